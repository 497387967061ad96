#!/bin/bash
# diff as a user runs it, on two fakebrokers: alike, and with one of them bent.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build}
dir=$(mktemp -d) || exit 2
brokers=()
trap '[ ${#brokers[@]} = 0 ] || { kill "${brokers[@]}"; wait "${brokers[@]}"; } 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 143' TERM INT HUP
passed=0 failed=0

ok() { passed=$((passed + 1)); echo "ok   $*"; }
bad() { failed=$((failed + 1)); echo "FAIL $*"; sed 's/^/     /' "$dir/log"; }
# expect CODE WHAT ARGUMENT...
expect() {
	local code=$1 what=$2 got
	shift 2
	"$build/conformance" diff "$@" >"$dir/log" 2>&1 </dev/null
	got=$?
	if [ "$got" = "$code" ]; then ok "$what"; else bad "$what: exit code $got, not $code"; fi
}
says() { if grep -qE -- "$1" "$dir/log"; then ok "it says $1"; else bad "it does not say $1"; fi; }

for name in a b; do
	"$build/fakebroker" --port 0 --port-file "$dir/$name" >/dev/null 2>"$dir/$name.log" &
	brokers+=($!)
done
for name in a b; do
	for _ in $(seq 200); do [ -s "$dir/$name" ] && break; sleep 0.05; done
done
a=$(jq -r .bootstrap "$dir/a") b=$(jq -r .bootstrap "$dir/b") control=$(jq -r .control "$dir/b")
[ -n "$b" ] || { cat "$dir/b.log"; exit 1; }

expect 0 'two that are alike' --a "$a" --b "$b" --seed 1 --count 400
says '^400 requests of seed 1: 0 different'
curl -s -o "$dir/rule" -X PUT "$control/v1/rules/bent" \
	-d '{"match": {"api": "Produce", "version": 8}, "action": {"error": "KAFKA_STORAGE_ERROR"}}'
expect 1 'one that is bent' --a "$a" --b "$b" --seed 1 --count 60 --out "$dir/out"
says '"errorCode":56'
says '^60 requests of seed 1: [0-9]+ different'
case=$(find "$dir/out" -name '*.json' | sort | head -1)
got=$(jq -c '.steps[0].send | [.version, (.body.topicData[0].partitionData | length)]' "$case")
if [ "$got" = '[8,1]' ]; then ok 'the smallest request is written as a case'; else bad "the case has $got"; fi
expect 2 'one broker is not two' --a "$a"
expect 2 'a family that there is not' --a "$a" --b "$b" --family frame
expect 3 'a broker that is not there' --a "$a" --b 127.0.0.1:1
expect 2 'what is no address' --a "$a" --b nowhere
kill -0 "${brokers[@]}" || bad 'a broker is gone'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
