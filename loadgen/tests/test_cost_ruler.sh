#!/bin/bash
# Is the ruler of loadgen cost straight? The same costs what the same costs; what an observer in the queue does is
# measured as well; and no other process's CPU is taken for the broker's.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh
cost() { "$build/loadgen" cost "$@"; }
# undisturbed FILTER ARGUMENT...: a machine that is busy otherwise may bend a measurement; jq must find the filter true
# of one in five.
undisturbed() {
	local filter=$1
	shift
	for _ in 1 2 3 4 5; do
		cost "$@" --json >"$dir/try" 2>&1
		! jq -e "$filter" "$dir/try" >"$dir/jq" 2>&1 || return 0
	done
	cat "$dir/try"
	return 1
}

start --port 0 --controller-port 0 --control-port 0 || exit 1
one=(--control "$control" -b "$bootstrap" --switch observer)

# ---- A against A ----------------------------------------------------------------------------------------------------

# Blocks that are short, and begin right after the switch, are a quarter longer than those that go on: if A followed
# fewer switches than B that would be seen. Of four intervals of 95 % three or four hold 0, hardly ever none; and by
# chance a verdict is `fail` in one of some 10,000 runs.
traffic='{"classes": "TrafficObserver"}'
echo "{\"topic\": \"same\", \"block\": 10, \"warm\": 0, \"a\": $traffic, \"b\": $traffic}" >"$dir/same.json"
held=0
for seed in 1 2 3 4; do
	expect '0 4' "A against A, seed $seed" cost --scenario "$dir/same.json" "${one[@]}" --quads 60 --margin 10% \
		--seed "$seed" --json
	! jq -e '.comparisons[0].cpu.share | .low <= 0 and .high >= 0' "$dir/log" >"$dir/jq" 2>&1 || held=$((held + 1))
done
check "of four intervals $held hold 0" [ "$held" -ge 1 ]

# ---- what was added is what is measured -----------------------------------------------------------------------------

slow='{"classes": "SlowObserver", "options": {"SlowObserver.us": "200", "SlowObserver.busy": "true"}}'
for mode in inline queued; do
	export mode
	jq -n --argjson slow "$slow" --arg mode "$mode" \
		'{topic: "fail", block: 10, warmUp: 0, b: ($slow + {mode: $mode})}' >"$dir/slow.json"
	check "200 us, $mode, are some 200 us, and more than half as much again" undisturbed '.verdict == "fail" and
		(.comparisons[0].cpu.differenceNs.at | 100000 < . and . < 400000)' \
		--scenario "$dir/slow.json" "${one[@]}" --quads 20 --margin 50%
	jq -n --arg mode "$mode" \
		'{topic: "dose", api: "fetch", block: 10, warmUp: 0, doses: [200], doseMode: $mode}' >"$dir/dose.json"
	check "doses, $mode" undisturbed '.line.slope > 0.5 and .line.slope < 2 and
		.comparisons[0].doseUs == 200 and .doseMode == $ENV.mode' --scenario "$dir/dose.json" "${one[@]}" \
		--quads 20
done
jq -n --argjson slow "$slow" '{topic: "pass", block: 10, a: $slow, b: {classes: "TrafficObserver"}}' >"$dir/slow.json"
expect 0 'less is no more' cost --scenario "$dir/slow.json" "${one[@]}" --quads 20 --margin 50%

# An observer that sleeps uses no CPU for longer than what is taken for the end of its work.
cat >"$dir/sleeps.json" <<'X'
{"topic": "sleeps", "block": 1, "warmUp": 0, "a": {"classes": "NoOpObserver"},
 "b": {"classes": "SlowObserver", "mode": "queued", "options": {"SlowObserver.us": "6000"}}}
X
expect '0 1 4' 'an observer that sleeps' cost --scenario "$dir/sleeps.json" "${one[@]}" --quads 20 --margin 50% --json
holds "$dir/log" '.comparisons[0].cpu.differenceNs.low > 0'

# ---- what cannot be measured ----------------------------------------------------------------------------------------

start --port 0 --controller-port 0 --control-port 0 --set observer.queue.entries=4 || exit 1
jq -n --argjson slow "$slow" '{topic: "full", block: 20, b: ($slow + {mode: "queued"})}' >"$dir/full.json"
expect 3 'a queue that is full' cost --scenario "$dir/full.json" --control "$control" -b "$bootstrap" \
	--switch observer --margin 50%
says '^loadgen cost: the queue of "SlowObserver" was full, [0-9]+ exchanges are lost: make "block" '

# In a namespace of its own the broker has a pid that here is another process's.
mkdir "$dir/elsewhere"
cat >"$dir/elsewhere/fakebroker" <<X
#!/bin/bash
exec unshare -Urpf --kill-child --mount-proc "$build/fakebroker" "\$@"
X
chmod +x "$dir/elsewhere/fakebroker"
if unshare -Urpf --mount-proc true 2>"$dir/log"; then
	build=$dir/elsewhere start --port 0 --controller-port 0 --control-port 0 || exit 1
	curl -s "$control/v1/status" >"$dir/status"
	holds "$dir/status" '.pid == 1'
	expect '0 1 4' 'a broker elsewhere' cost --scenario "$dir/same.json" --control "$control" -b "$bootstrap" \
		--switch observer --quads 20 --margin 50%
	says '^  no CPU time: the process of the broker is not one of this machine and pid namespace$'
	says '^(pass|fail|inconclusive): service time per request at most 50\.00 % more'
else
	echo "     not tried, a broker in another pid namespace: $(cat "$dir/log")"
fi

finish
