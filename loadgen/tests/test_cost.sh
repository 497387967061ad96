#!/bin/bash
# loadgen cost as a user runs it, with so few quads that only what must hold on any machine is asked: reports are
# complete, the broker is switched, and wrong usage is refused.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh
cost() { "$build/loadgen" cost "$@"; }

start --port 0 --controller-port 0 --control-port 0 || exit 1
at=$bootstrap
one=(--control "$control" -b "$at" --quads 20)

for api in produce fetch; do
	cat >"$dir/$api.json" <<-X
		{"topic": "$api", "api": "$api", "records": 10, "partitions": 2, "block": 20, "codec": "lz4",
		 "margin": 0.5, "b": {"classes": "TrafficObserver", "mode": "queued"}}
	X
	expect '0 1 4' "an observer, $api" cost --scenario "$dir/$api.json" "${one[@]}" --switch observer --json
	holds "$dir/log" ".requests.api == \"$api\" and .quads == 20 and .margin == 0.5 and
		.requests.block == 20 and .warm == 20 and .warmUp == 5 and
		(.verdict | IN(\"pass\", \"fail\", \"inconclusive\"))"
	holds "$dir/log" '.comparisons | length == 1 and ([.[0][] | .quads == 20 and .aNs > 0 and .bNs > 0 and
		.share.low <= .share.at and .share.at <= .share.high] == [true, true, true, true])'
	holds "$dir/log" '(.machine | .processors > 0 and .kernel != "")'
done
curl -s "$control/metrics" >"$dir/log"
says '^kassay_observer_exchanges_total\{.*TrafficObserver|^kassay_observer_exchanges_total\{.*NoOpObserver'
expect '0 1 4' 'the text' cost --scenario "$dir/produce.json" "${one[@]}" --control "$control/" \
	--switch observer --margin 50%
says '^Produce, 2 partitions, 10 records of 100 bytes each, lz4, blocks of 20, 20 quads, seed 1$'
says '^  CPU, A against A +[0-9.]+ +[0-9.]+ '
says '^(pass|fail|inconclusive): CPU per request at most 50\.00 % more'

echo '{"topic": "checked", "block": 20, "b": {"classes": "NonEmptyValue"}}' >"$dir/validator.json"
expect '0 1 4' 'a validator' cost --scenario "$dir/validator.json" "${one[@]}" --switch validator --margin 50% --json
holds "$dir/log" '.a.classes == "" and .b.classes == "NonEmptyValue"'

echo '{"topic": "slow", "api": "fetch", "block": 10, "warm": 1, "doses": [0, 200]}' >"$dir/dose.json"
expect '0 1' 'doses' cost --scenario "$dir/dose.json" "${one[@]}" --switch observer
says '^  SlowObserver, inline$'
says '^  200 +[0-9.]+ '
says '^(pass|fail): slope 1 within 10 %'

echo '{"topic": "two", "block": 20}' >"$dir/two.json"
one_pid=$pid one_control=$control
start --port 0 --controller-port 0 || exit 1
expect '0 1 4' 'two brokers' cost --scenario "$dir/two.json" --a "$at" --b "$bootstrap" --pid-a "$one_pid" \
	--pid-b "$pid" --quads 20 --margin 50%
says '^  CPU, against itself '
expect '0 1 4' 'two brokers, elsewhere' cost --scenario "$dir/two.json" --a "$at" --b "$bootstrap" --quads 20 \
	--margin 50%
says '^(pass|fail|inconclusive): service time per request'
pid=$one_pid control=$one_control
expect 2 'one broker that is both' cost --scenario "$dir/two.json" --a "$at" --b "$at" --quads 20 --margin 50%
says 'topic "two" has records'

# ---- what was in force before is put back ---------------------------------------------------------------------------

# in_force PATH FILTER: jq finds it true of what the control API answers.
in_force() {
	curl -s "$control/v1/$1" >"$dir/in_force"
	holds "$dir/in_force" "$2"
}
put() { curl -sf -X PUT "$control/v1/$1" -d "$2" >/dev/null || bad "PUT /v1/$1 $2"; }
traffic='[.[0] | .classes, .observers[0].mode] == ["TrafficObserver", "queued"]'
slow='{"classes": "SlowObserver", "options": {"SlowObserver.us": "1", "SlowObserver.busy": "true"}}'

put observer '{"classes": "TrafficObserver", "mode": "queued"}'
echo "{\"topic\": \"back\", \"block\": 20, \"b\": $slow}" >"$dir/slow.json"
expect '0 1 4' 'observers, put back' cost --scenario "$dir/slow.json" "${one[@]}" --switch observer --margin 50%
in_force observer "$traffic"
expect '0 1 4' 'doses, put back' cost --scenario "$dir/dose.json" "${one[@]}" --switch observer
in_force observer "$traffic"
echo '{"topic": "back", "b": {"classes": "SlowObserver", "options": {"SlowObserver.us": "x"}}}' >"$dir/option.json"
expect 3 'an error' cost --scenario "$dir/option.json" "${one[@]}" --switch observer --margin 2%
in_force observer "$traffic"
"$build/loadgen" cost --scenario "$dir/slow.json" "${one[@]}" --quads 100000 --switch observer --margin 2% >"$dir/log" \
	2>&1 &
running=$!
timeout 20 bash -c "until curl -s $control/v1/observer | grep -q SlowObserver; do :; done" || bad 'it does not switch'
mv "$dir/log" "$dir/first"
expect 3 'one measurement at a time' cost --scenario "$dir/slow.json" "${one[@]}" --switch observer --margin 50%
says "^loadgen cost: another \`loadgen cost\` measures the fakebroker at $control\$"
mv "$dir/first" "$dir/log"
kill -INT "$running"
wait "$running"
equal 'stopped by SIGINT' $? 4
says 'stopped after [0-9]+ of 100000 quads'
in_force observer "$traffic"
# somebody_switches SCENARIO BODY WORDS: while that is measured somebody else puts that again and again.
somebody_switches() {
	"$build/loadgen" cost --scenario "$1" "${one[@]}" --quads 100000 --switch observer --margin 2% >"$dir/log" \
		2>&1 &
	running=$!
	timeout 20 bash -c "until curl -s $control/v1/observer | grep -q SlowObserver; do :; done" ||
		bad 'it does not switch'
	for ((i = 0; i < 400; i++)); do
		kill -0 "$running" 2>/dev/null || break
		put observer "$2"
	done
	kill -INT "$running" 2>/dev/null
	wait "$running"
	equal 'somebody else switches' $? 3
	says "^loadgen cost: somebody else switches the broker, too: $3"
}
somebody_switches "$dir/slow.json" '{"classes": "SloObserver"}' 'it has "SloObserver", and was given "'
echo "{\"topic\": \"back\", \"block\": 500, \"a\": $slow, \"b\": $slow}" >"$dir/slows.json"
somebody_switches "$dir/slows.json" '{"classes": "SlowObserver", "mode": "queued"}' \
	'"SlowObserver" is queued, and was given inline'
somebody_switches "$dir/slows.json" '{"classes": "SlowObserver", "mode": "inline", "options": {}}' \
	'"SlowObserver" saw [0-9]+ of (500|1000) requests'
put observer '{"classes": "NoOpObserver"}'

in_force validators '.checked == null'
put validators '{"topic": "checked", "configs": {"record.validator.classes": "AllowAll"}}'
expect '0 1 4' 'validators, put back' cost --scenario "$dir/validator.json" "${one[@]}" --switch validator --margin 50%
in_force validators '.checked.classes == "AllowAll"'
echo '{"topic": "checked", "block": 20, "b": {"classes": "RequiredHeader"}}' >"$dir/header.json"
put validators '{"topic": "checked", "configs": {"record.validator.RequiredHeader.name": "h"}}'
expect 3 'records that B refuses' cost --scenario "$dir/header.json" "${one[@]}" --switch validator \
	--margin 50%
says 'Produce: INVALID_RECORD'
in_force validators '.checked.classes == "AllowAll"'

# ---- what it refuses ------------------------------------------------------------------------------------------------

expect 2 'no margin' cost --scenario "$dir/two.json" --a "$at" --b "$at"
says 'how much it may cost'
for margin in 2 0.02; do
	expect 2 'a margin that may be percent or a share' cost --scenario "$dir/two.json" --a "$at" --b "$at" \
		--margin "$margin"
	says "must be a percentage such as \"2%\" \(a share of 0.02\), not \"$margin\""
done
expect 2 'neither one nor two' cost --scenario "$dir/produce.json"
says 'either --control and --switch, or --a and --b'
expect 2 'nothing to compare with' cost --scenario "$dir/two.json" "${one[@]}" --switch observer --margin 2%
says 'has neither "b"'
for url in "${control#http://}" "$control/v1" http://nowhere; do
	expect 2 "no address of a control API: $url" cost --scenario "$dir/produce.json" -b "$at" --control "$url" \
		--switch observer
	says "^loadgen cost: --control: \"$url\" is not an address as http://host:port"
done
expect 2 'two brokers and a switch' cost --scenario "$dir/produce.json" --a "$at" --b "$at" --switch observer
echo '{"topic": "x", "quad": 5}' >"$dir/wrong.json"
expect 2 'a misspelt member' cost --scenario "$dir/wrong.json" "${one[@]}" --switch observer --margin 2%
says 'quads'
echo '{"b": {"classes": "NoSuchObserver"}}' >"$dir/none.json"
expect 3 'an observer that is not there' cost --scenario "$dir/none.json" "${one[@]}" --switch observer --margin 2%
says 'the control API answers 400 to PUT /v1/observer: .*NoSuchObserver'
echo '{"b": {"classes": "SlowObserver", "options": {"SlowObserver.usec": "5"}}}' >"$dir/option.json"
expect 3 'a misspelt option' cost --scenario "$dir/option.json" "${one[@]}" --switch observer --margin 2%
says "'SlowObserver.usec' is no option of 'SlowObserver', did you mean 'SlowObserver.us'"
echo '{"b": {"classes": "SlowObserver", "options": {"us": "100"}}}' >"$dir/option.json"
expect 3 'an option without its observer' cost --scenario "$dir/option.json" "${one[@]}" --switch observer --margin 2%
says "'us' is no option of 'SlowObserver', did you mean 'SlowObserver.us'"
echo '{"b": {"classes": "RequiredHeader", "options": {"RequiredHeader.name": "h"}}}' >"$dir/option.json"
expect 2 'options of a validator' cost --scenario "$dir/option.json" "${one[@]}" --switch validator --margin 2%
says '"mode" and "options" are of an observer'
echo '{"b": {"classes": "TrafficObserver"}}' >"$dir/observer.json"
expect 3 'an observer among the validators' cost --scenario "$dir/observer.json" "${one[@]}" --switch validator \
	--margin 2%
says "record.validator.classes=TrafficObserver: INVALID_CONFIG \\(40\\): no validator 'TrafficObserver'"
expect 3 'nobody there' cost --scenario "$dir/two.json" --a 127.0.0.1:1 --b 127.0.0.1:1 --margin 2%

# ---- the table of all observers -------------------------------------------------------------------------------------

for setting in QUADS=abc QUADS=5 SIZE=abc SIZE=0 'ONLY=(' ONLY=Nope; do
	expect 2 "the table with $setting" env "$setting" BUILD="$build" fixtures/launchers/observer-cost.sh
	equal 'in one line' "$(grep -c '^observer-cost.sh: .*[A-Z]' "$dir/log") $(wc -l <"$dir/log")" '1 1'
done
expect '0 3' 'one line of the table' env QUADS=20 ONLY='TrafficObserver inline fetch 100' BUILD="$build" \
	fixtures/launchers/observer-cost.sh
says '^TrafficObserver +inline +fetch +100 '

finish
