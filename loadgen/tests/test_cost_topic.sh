#!/bin/bash
# What loadgen cost writes it deletes, and nothing else.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh
cost() { "$build/loadgen" cost "$@"; }

start --port 0 --controller-port 0 --control-port 0 || exit 1
one=(--control "$control" -b "$bootstrap" --quads 20 --switch observer --margin 50%)
# scenario TOPIC API PARTITIONS
scenario() {
	jq -n --arg topic "$1" --arg api "$2" --argjson partitions "$3" '{topic: $topic, api: $api, records: 3,
		partitions: $partitions, block: 10, b: {classes: "TrafficObserver"}}' >"$dir/$1-$2-$3.json"
	echo "$dir/$1-$2-$3.json"
}
# partition TOPIC N FILTER: jq finds it true of what is there.
partition() {
	curl -s "$control/v1/partitions/$1/$2" >"$dir/partition"
	holds "$dir/partition" "$3"
}
empty='.logEndOffset > 0 and .logStartOffset == .logEndOffset'

for api in produce fetch; do
	expect '0 1 4' "it makes a topic, $api" cost --scenario "$(scenario "new-$api" $api 2)" "${one[@]}"
	partition "new-$api" 0 "$empty"
	partition "new-$api" 1 "$empty"
	expect '0 1 4' 'and may have it again' cost --scenario "$(scenario "new-$api" $api 2)" "${one[@]}"
	partition "new-$api" 1 "$empty"
done
expect '0 1 4' 'partitions that are not equally long' cost --scenario "$(scenario new-produce produce 1)" "${one[@]}"
expect '0 1 4' 'are fetched each from its own offset' cost --scenario "$(scenario new-produce fetch 2)" "${one[@]}"
partition new-produce 0 "$empty"

expect 0 'records of the user' "$build/loadgen" produce -b "$bootstrap" -t precious --partitions 1 -n 5
for api in produce fetch; do
	expect 2 "are not deleted, $api" cost --scenario "$(scenario precious $api 1)" "${one[@]}"
	says '^loadgen cost: topic "precious" has records, offsets 0 to 4 of partition 0, which would be deleted with '
done
partition precious 0 '.logStartOffset == 0 and .logEndOffset == 5'

# Those that are written meanwhile stay as well: where the next batch was due is the first one of them.
"$build/loadgen" cost --scenario "$(scenario shared produce 1)" "${one[@]}" --quads 100000 >"$dir/log" 2>&1 &
running=$!
shared=$control/v1/partitions/shared/0
timeout 20 bash -c "until curl -s $shared | jq -e '.logEndOffset > 100' >/dev/null; do :; done" ||
	bad 'it writes nothing'
"$build/loadgen" produce -b "$bootstrap" -t shared -n 1 >/dev/null 2>&1 || bad 'nothing is written meanwhile'
wait "$running"
equal 'somebody else writes' $? 3
says '^loadgen cost: somebody else writes to topic "shared", too: its partition 0 gave a batch offset [0-9]+, not'
partition shared 0 ".logStartOffset == $(sed -n 's/.*, not //p' "$dir/log") and .logEndOffset > .logStartOffset"

finish
