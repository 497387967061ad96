#!/bin/bash
# A run and what comes of it: nothing is lost, what failed or was not run can be run again, and it is the broker that
# was named which is asked.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh
c=$build/conformance

start --port 0 || exit 1
at=$bootstrap
run() { "$c" run --bootstrap-server "$at" --seed 1 "$@"; }

# ---- text that is none, and text that is cut ----

expect 2 'a name that is no text' run --only 'records.crc.mismatch@v9' --name $'caf\xe9'
says '^conformance run: --name: is not UTF-8$'
expect 2 'nor a glob' run --only $'records.crc.[!\xff]*'
says '^conformance run: --only "records.crc.\[!\?\]\*" is not UTF-8$'
mkdir "$dir/caf"$'\xe9'
cp -r conformance/requirements conformance/profiles conformance/mutants "$dir/caf"$'\xe9'
mkdir -p "$dir/caf"$'\xe9'/cases/{configs,sanity}
cp conformance/cases/sanity/* "$dir/caf"$'\xe9/cases/sanity'
# Of two messages one is cut within a character.
policy=$(printf '\xc3\xa9%.0s' {1..200})
for pad in '' x; do
	cat >"$dir/caf"$'\xe9'"/cases/configs/utf${pad:+-$pad}.json" <<-X
		{"id": "configs.utf${pad:+-$pad}", "title": "A long message", "requirements": ["configs.topic.unknown"],
		 "steps": [{"send": {"api": "CreateTopics", "at": "topics[0]", "body": {"topics": [
		   {"name": "\${run}-t", "numPartitions": 1, "replicationFactor": 1, "assignments": [],
		    "configs": [{"name": "cleanup.policy", "value": "$pad$policy"}]}], "timeoutMs": 5000,
		   "validateOnly": true}}, "expect": {"error": "INVALID_CONFIG", "message": "other words"}}]}
	X
done
expect 0 'a list of cases with such paths' "$c" list --json --data "$dir/caf"$'\xe9'
holds "$dir/log" 'length == 3 and all(.file | type == "string")'
expect 1 'a data folder whose name is no text' run --data "$dir/caf"$'\xe9' --out "$dir/utf"
says '^fail +configs.utf  step 1 send: errorMessage: expected "other words", got "Invalid value .*\.\.\.$'
says '^fail +configs.utf-x  step 1 send: errorMessage: expected "other words", got "Invalid value .*\.\.\.$'
expect 0 'its result can be read' "$c" report "$dir/utf/result.json" --out "$dir/utf"
holds "$dir/utf/result.json" '[.cases[].reason | type] | all(. == "string")'
expect 1 'and its failure repeated' "$dir/utf/failures/configs.utf-x/repeat.sh"
says '^fail +configs.utf-x '

# ---- run again ----

mkfifo "$dir/lines"
"$c" run -b "$at" --seed 1 --only 'records.*' --jobs 1 --out "$dir/part" >"$dir/lines" 2>&1 &
pids+=($!)
{ read -r _ && kill -TERM "${pids[-1]}" && cat; } <"$dir/lines" >/dev/null
wait "${pids[-1]}"
equal 'an interrupted run' $? 4
left=$(jq '.notRun | length' "$dir/part/result.json")
holds "$dir/part/result.json" '.interrupted and (.notRun | length > 1 and index("sanity.target@end") != null)'
holds "$dir/part/result.json" '[.cases[].id] - .notRun == [.cases[].id]'
expect 0 'what was not run is run now' run --rerun "$dir/part/result.json" --format json
equal 'all of it, and the sanity case at either end' "$(jq '.cases | length' "$dir/log")" $((left + 1))
cp "$dir/log" "$dir/rest.json"
ids=$(jq -c .notRun "$dir/part/result.json")
holds "$dir/rest.json" "[.cases[].id] - ([.cases[].id] - $ids) | length == $left"
expect 0 'after that there is nothing' run --rerun "$dir/rest.json"
says '^every case of .*/rest.json was run and was as expected: there is nothing to run again$'

echo '{"capabilities": {"observations": true}}' >"$dir/claim.json"
expect 1 'a claim that is wrong' run --profile "$dir/claim.json" --only 'sanity.*' --format json
cp "$dir/log" "$dir/claimed.json"
expect 1 'is judged again' run --profile "$dir/claim.json" --rerun "$dir/claimed.json"
says '^fail +profile.observations'
jq '(.cases[] | select(.id == "sanity.target@end")).verdict = "fail"' "$dir/rest.json" >"$dir/harmed.json"
expect 0 'so is a target that was harmed' run --rerun "$dir/harmed.json"
says '^2 cases on .*: 2 pass$'
stop "$pid"

# ---- repeat.sh ----

# repeats: a failure that needs every option, on the broker of `at`; then its repeat.sh from elsewhere.
repeats() {
	local out="$dir/it's out.$1" again
	cp -r conformance "$dir/data.$1"
	echo '{"names": {"validator.none": "x"}, "topicPrefix": "again-"}' | jq 'del(.names)' >"$dir/named.json"
	expect 1 "a failure on $at" run --destructive --strict --skip 'sanity.*' --only configs.alter.null-operand \
		--profile "$(realpath --relative-to=. "$dir/named.json")" --out "$out" \
		--data "$(realpath --relative-to=. "$dir/data.$1")"
	again="$out/failures/configs.alter.null-operand/repeat.sh"
	expect 1 'fails again' bash -c 'cd / && exec "$0"' "$again"
	says '^fail +configs.alter.null-operand  step 1 send: errorCode: expected INVALID_REQUEST .*, got NONE .*$'
	says '^disabled +sanity.target '
	says ', seed 1$'
	for word in --destructive --strict "--profile $dir/named.json" "--data $dir/data.$1"; do
		check "repeat.sh has $word" grep -qF -- " $word " "$again"
	done
	expect 3 'it takes another address' "$again" 127.0.0.1:1
}
start --port 0 --mutant configs.null-operand-taken || exit 1
at=$bootstrap
repeats 4
stop "$pid"
if start --host ::1 --port 0 --mutant configs.null-operand-taken; then
	at=$bootstrap
	repeats 6
	check 'with brackets' grep -qF "'$at'" "$dir/it's out.6/failures/configs.alter.null-operand/repeat.sh"
	equal 'in the result, too' "$(jq -r .target.bootstrap "$dir/it's out.6/result.json")" "$at"
	expect 0 'probe writes brackets' "$c" probe -b "$at"
	says "at \\[::1\\]:"
	stop "$pid"
else
	ok 'no IPv6 here'
fi

# ---- which broker ----

start --nodes 3 --port 0 || exit 1
node=0
for at in ${bootstrap//,/ }; do
	node=$((node + 1))
	expect 0 "broker $node is asked" "$c" probe -b "$at"
	says "^broker $node of 3 at $at, "
	expect 0 "by another name, too" "$c" probe -b "localhost:${at##*:}"
	says "^broker $node of 3 at $at, "
done

# ---- addresses of a profile ----

for member in bootstrap controller; do
	echo "{\"$member\": \"nonsense\"}" >"$dir/bad.json"
	expect 2 "a profile's $member" run --profile "$dir/bad.json" --only 'sanity.*'
	says "/bad.json:1: \\$.$member: \"nonsense\" is no address; write host:port or \\[::1\\]:port$"
done
for prefix in "$policy" "$(printf 'x%.0s' {1..61})"; do
	echo "{\"topicPrefix\": \"$prefix\"}" >"$dir/bad.json"
	expect 2 "a profile's topicPrefix" run --profile "$dir/bad.json" --only 'sanity.*'
	says '/bad.json:1: \$.topicPrefix: must be at most 60 of the characters that names of topics have$'
done
echo '{"controller": "[::1]:1"}' >"$dir/gone.json"
expect 0 'a controller that is not there' "$c" probe -b "$at" --profile "$dir/gone.json"
says '^controller +no +\[::1\]:1 does not answer ApiVersions: '
finish
