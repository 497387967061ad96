#!/bin/bash
# What a verdict is: the same from run and from replay, by level, profile and options; the case's own faults apart.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh
conf() { "$build/conformance" "$1" --bootstrap-server "$bootstrap" "${@:2}"; }

# broker OPTION...: a fakebroker in place of one that runs.
broker() {
	[ ${#pids[@]} = 0 ] || stop "$pid"
	start --port 0 "$@" || exit 1
}

# A should that is not so, an answer that is only observed: judged alike by both.
name=conformance/cases/frames/software-name.empty.json
broker --mutant frames.software-empty-taken
expect 0 'run: a should' conf run --only frames.software-name.empty --out "$dir/out"
says '^pass-lenient +frames.software-name.empty  should: step 1 send: errorCode: expected INVALID_REQUEST'
expect 0 'replay: a should' conf replay "$name"
says '^pass-lenient +frames.software-name.empty  should: step 1 send: errorCode: expected INVALID_REQUEST'
expect 1 'run: a should, strictly' conf run --only frames.software-name.empty --strict --out "$dir/strict"
expect 1 'replay: a should, strictly' conf replay "$name" --strict
says '^fail +frames.software-name.empty  step 1 send: errorCode'
folder=$dir/strict/failures/frames.software-name.empty
expect 0 'its folder' conf replay "$folder"
says '^pass-lenient +frames.software-name.empty'
expect 1 'its folder, strictly' conf replay "$folder" --strict
sed 's/"frames.software-name"/"frames.to-be-named"/' "$name" >"$dir/new.json"
expect 1 'what the register does not know is a must' conf replay "$dir/new.json"
says '^fail +frames.software-name.empty'

# The profile's word counts for both, strict or not.
cat >"$dir/known.json" <<-'X'
	{"expectedFailures": [{"case": "frames.software-name.empty", "message": "step 1 send: errorCode",
	 "why": "issue 1"}]}
X
for strict in '' --strict; do
	# shellcheck disable=SC2086 # one option or none
	expect 0 "run: expected to fail $strict" conf run --only frames.software-name.empty \
		--profile "$dir/known.json" $strict
	says '^xfail +frames.software-name.empty  step 1 send: errorCode: .* \(issue 1\)$'
	# shellcheck disable=SC2086
	expect 0 "replay: expected to fail $strict" conf replay "$name" --profile "$dir/known.json" $strict
	says '^xfail +frames.software-name.empty  step 1 send: errorCode: .* \(issue 1\)$'
done
echo '{"disabled": ["frames.software-name.*"]}' >"$dir/off.json"
expect 4 'replay: what the profile leaves out' conf replay "$name" --profile "$dir/off.json"
says '^disabled +frames.software-name.empty  left out by "frames.software-name.\*"$'

# Under --strict a better answer is no worse than a worse one, where both are only observed.
broker
rule() { curl -s -o "$dir/rule" -X PUT "$control/v1/rules/one" -d '{"match": {"api": "Produce"}, "action": '"$1"'}'; }
rule '{"error": "INVALID_RECORD"}'
expect 0 'observed: a refusal' conf run --strict --only records.trailing.twelve --skip 'sanity.*'
says '^pass-lenient +records.trailing.twelve  refused with another code$'
rule '{"close": true}'
expect 0 'observed: a closed connection' conf run --strict --only records.trailing.twelve --skip 'sanity.*'
says '^pass +records.trailing.twelve  observe: step 1 produce: expected an answer, got none$'

# What is destructive is not sent unasked, whatever it is replayed from.
broker --mutant configs.null-operand-taken
expect 1 'a destructive case' conf run --destructive --only configs.alter.null-operand --out "$dir/null"
folder=$dir/null/failures/configs.alter.null-operand
asked() { curl -s "$control/v1/requests" | jq '[.[] | select(.api == "IncrementalAlterConfigs")] | length'; }
before=$(asked)
if [ "$before" -gt 0 ]; then ok 'it was sent once'; else bad "it was sent $before times"; fi
expect 4 'its folder, unasked' conf replay "$folder"
says '^disabled +configs.alter.null-operand  destructive: runs only with --destructive$'
equal 'it was not sent again' "$(asked)" "$before"
expect 1 'its folder, asked for' conf replay "$folder" --destructive
says '^fail +configs.alter.null-operand'

# The case's own faults are neither what the target lacks nor what it answered wrong, and are not asked again.
broker
cat >"$dir/race.json" <<-'X'
	{"id": "x.race", "title": "t", "requirements": ["x.x"], "steps": [
	 {"race": {"requests": [{"api": "CreateTopics", "body": {"topicz": []}}]}, "within": 60000,
	  "expect": {"body": {"answers": [{"topics": []}]}}}]}
X
expect 3 'a misspelt member of a race' timeout 30 "$build/conformance" replay "$dir/race.json" -b "$bootstrap"
says '^error +x.race  step 1 race: .*unknown member "topicz"'
cat >"$dir/variable.json" <<-'X'
	{"id": "x.variable", "title": "t", "requirements": ["x.x"], "topics": {"a": {}}, "steps": [
	 {"endOffset": {"topic": "$a"}, "expect": [{"name": "empty", "body": {"offset": 0}},
	  {"name": "other", "body": {"offset": "$nope"}}]}]}
X
expect 3 'a variable that nothing sets' conf replay "$dir/variable.json"
says '^error +x.variable  step 1 endOffset: expect\[1\].body.offset: variable \$nope is not set$'
sed 's/"\$nope"/{"$not": {"$plus": ["$broker", "$a"]}}/' "$dir/variable.json" >"$dir/plus.json"
expect 3 'a sum of texts' conf replay "$dir/plus.json"
says 'expect\[1\].body.offset.\$not.\$plus: must be an array of whole numbers$'
sed 's/"\$nope"/{"$range": ["x", "y"]}/' "$dir/variable.json" >"$dir/range.json"
expect 2 'a range of texts' conf replay "$dir/range.json"
says 'range.json:3: .*: must be an array of two numbers$'
cat >"$dir/contains.json" <<-'X'
	{"id": "x.contains", "title": "t", "requirements": ["x.x"], "topics": {"a": {}}, "steps": [
	 {"send": {"api": "DescribeConfigs", "at": "results[0]", "body": {"resources": [{"resourceType": 2,
	   "resourceName": "$a", "configurationKeys": ["cleanup.policy", "retention.ms"]}]}},
	  "expect": {"body": {"configs": {"$contains": [{"isDefault": {"$absent": true}},
	   {"name": "cleanup.policy"}]}}}}]}
X
expect 0 'patterns make room for each other' conf replay "$dir/contains.json"
cat >"$dir/lacks.json" <<-'X'
	{"id": "x.lacks", "title": "t", "requirements": ["x.x"], "steps": [
	 {"send": {"api": "BrokerHeartbeat", "body": {}}, "expect": {"error": "NONE"}}]}
X
expect 4 'what the target does not list' conf replay "$dir/lacks.json"
says '^unsupported +x.lacks  step 1 send: the target lists no version of BrokerHeartbeat that the kit knows$'
# What the target may still make is waited for, as long as the case says.
cat >"$dir/channel.json" <<-X
	{"observations": "$dir/observed.jsonl", "names": {"observer.journal": null}}
X
cat >"$dir/observed.json" <<-'X'
	{"id": "x.observed", "title": "t", "requirements": ["x.x"], "steps": [
	 {"observing": {}, "expect": {"error": "NONE"}},
	 {"send": {"api": "ListTransactions", "body": {}}, "expect": {"error": "NONE"}},
	 {"observed": {}, "within": 30000, "expect": {"body": {"n": 1}}}]}
X
conf replay "$dir/observed.json" --profile "$dir/channel.json" >"$dir/log" 2>&1 &
waiting=$!
curl -s -o "$dir/seen" -X POST "$control/v1/wait" -d '{"api": "ListTransactions", "timeoutMs": 20000}'
echo '{"call": "record", "node": 1}' >"$dir/written"
mv "$dir/written" "$dir/observed.jsonl"
if wait "$waiting"; then ok 'a file that comes to be'; else bad 'a file that comes to be'; fi
rm "$dir/observed.jsonl"
sed -i 's/30000/1/' "$dir/observed.json"
expect 4 'a file that does not' conf replay "$dir/observed.json" --profile "$dir/channel.json"
says '^inconclusive +x.observed  step 3 observed: .*/observed.jsonl: No such file or directory$'
expect 0 'the level of the heaviest requirement' "$build/conformance" list --json --only validators.transaction
holds "$dir/log" '.[0].level == "must"'

finish
