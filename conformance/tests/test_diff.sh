#!/bin/bash
# diff as a user runs it, on two fakebrokers: alike, and with one of them bent.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh
diff_brokers() { "$build/conformance" diff "$@"; }

start --port 0 || exit 1
a=$bootstrap control_a=$control
start --port 0 || exit 1
b=$bootstrap

expect 0 'two that are alike' diff_brokers --a "$a" --b "$b" --seed 1 --count 400
says '^400 requests of seed 1: 0 different'
curl -s -o "$dir/rule" -X PUT "$control/v1/rules/bent" \
	-d '{"match": {"api": "Produce", "version": 8}, "action": {"error": "KAFKA_STORAGE_ERROR"}}'
expect 1 'one that is bent' diff_brokers --a "$a" --b "$b" --seed 1 --count 60 --out "$dir/out"
says '"errorCode":56'
says '^60 requests of seed 1: [0-9]+ different'
case=$(find "$dir/out" -name '*.json' | sort | head -1)
got=$(jq -c '.steps[0].send | [.version, (.body.topicData[0].partitionData | length)]' "$case")
if [ "$got" = '[8,1]' ]; then ok 'the smallest request is written as a case'; else bad "the case has $got"; fi
says "^  case +$case, for \`conformance replay $case -b $b\`\$"
expect 0 'which the reference passes' "$build/conformance" replay "$case" -b "$a"
says '^pass +records.diff-1-[0-9]+$'
expect 1 'and the other does not' "$build/conformance" replay "$case" -b "$b"
says '^fail +records.diff-1-[0-9]+ '
expect 4 'a case that changes the cluster' "$build/conformance" replay conformance/cases/config/walk.json -b "$a"
says '^disabled +config.walk  destructive: runs only with --destructive$'
expect 0 'a case of the suite, in all versions' "$build/conformance" replay \
	conformance/cases/records/crc.mismatch.json -b "$a"
says '^pass +records.crc.mismatch@v9$'
start --port 0 --mutant records.acks-zero-answered || exit 1
expect 1 'one that answers acks=0' diff_brokers --a "$a" --b "$bootstrap" --seed 1 --count 10
says '^  b +{"connection":"unasked","answered":false'
start --port 0 --release 3.9 || exit 1
expect '0 1' 'two releases' diff_brokers --a "$bootstrap" --b "$a" --seed 6 --count 60
if grep -q '"version":1[23]' "$dir/log"; then bad 'a version is sent that only one lists'
else ok 'versions that both list'; fi
echo >"$dir/file"
expect 2 'an output directory that is a file' diff_brokers --a "$a" --b "$b" --out "$dir/file"
says '/file: is a file, not a directory$'
expect 2 'one broker is not two' diff_brokers --a "$a"
expect 2 'nor is one twice' diff_brokers --a "$a" --b "$a"
says '^conformance diff: A and B are one broker, or of one cluster: b already has the topic kassay-diff-'
equal 'which is left without their topics' "$(curl -s "$control_a/v1/status" | jq '.topics | length')" 0
expect 2 'a family that there is not' diff_brokers --a "$a" --b "$b" --family frame
expect 3 'a broker that is not there' diff_brokers --a "$a" --b 127.0.0.1:1
expect 2 'what is no address' diff_brokers --a "$a" --b nowhere
kill -0 "${pids[@]}" || bad 'a broker is gone'

finish
