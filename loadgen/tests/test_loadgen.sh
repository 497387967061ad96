#!/bin/bash
# The program as a user runs it, on a fakebroker: what it says, exit codes, what lies in the output directory.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh

loadgen=$build/loadgen

# A broker so slow that later requests find no room for 30 s: begun here, looked at last.
start --port 0 || exit 1
stall() { curl -fsS -X PUT "$control/v1/rules/$1" -d "{\"match\": {\"api\": \"$1\", \"topic\": \"slow\"},
	\"action\": {\"delay\": 16000}}" >/dev/null; }
expect 0 'what is to be read slowly' "$loadgen" produce -b "$bootstrap" -t slow --partitions 1 -n 10 -r 1000
stall Produce
stall Fetch
slowly=(-b "$bootstrap" -t slow -e wire -r 2 -n 4 --in-flight 1 --out)
"$loadgen" produce "${slowly[@]}" "$dir/slow.produce" --batch 1 --no-verify >"$dir/slow.produced" 2>&1 &
slow_produce=$!
"$loadgen" fetch "${slowly[@]}" "$dir/slow.fetch" >"$dir/slow.fetched" 2>&1 &
slow_fetch=$!

cat >"$dir/cluster.json" <<-'X'
	{
		"nodes": [ {"id": 1}, {"id": 2, "config": {"kit.int.min": "512"}}, {"id": 3} ],
		"metadataVersion": 27,
		"config": {"record.validator.RequiredHeader.name": "trace-id"},
		"configs": [
			{"name": "kit.int.min", "scope": "broker", "type": "INT", "default": "4096",
			 "dynamic": "cluster-wide", "mvValidators": {"25": {"atLeast": 1}, "28": {"atLeast": 1024}}}
		],
		"topics": [
			{"name": "orders", "partitions": 3, "replicationFactor": 3,
			 "config": {"record.validator.classes": "NonEmptyValue,RequiredHeader"}},
			{"name": "plain", "partitions": 3}
		]
	}
X
start "$dir/cluster.json" --threads 2 --port 0 || exit 1
at=$bootstrap
produce() { "$loadgen" produce -b "$at" "$@"; }

# ---- produce --------------------------------------------------------------------------------------------------------

expect 0 'librdkafka at a rate' produce -t plain -r 2000 -n 1000 -c lz4 -k 50 -X linger.ms=1 --out "$dir/rd"
says 'sent +1000 +[0-9.]+ records/s'
says 'verified +read 1000, lost 0, duplicated 0, reordered 0, corrupt 0'
holds "$dir/rd/result.json" '.exit == 0 and .phases[0].records.acked == 1000 and .phases[0].total.read == 1000'
holds "$dir/rd/result.json" '.phases[0].latencyNs |
	.lag.count == 1000 and .response.count == 1000 and .response.p50 >= .service.p50'
check 'produce.hlog has intervals' grep -q '^Tag=response,0.000,' "$dir/rd/produce.hlog"
expect 0 'an idempotent producer, Poisson arrivals, a ramp' \
	produce -t plain -r 500:3000 -n 500 --poisson -X enable.idempotence=true
says 'guarantee +every acknowledged record once and in order'
for codec in none gzip snappy lz4 zstd; do
	expect 0 "wire with $codec" produce -t plain -e wire -n 500 -r 5000 -c $codec -s 64:400
done
says 'verified +read 500, lost 0, duplicated 0, reordered 0, corrupt 0'
expect 0 'without acknowledgements' produce -t plain -e wire -n 200 -r 5000 -a 0
says 'guarantee +none'
expect 0 'as fast as possible' produce -t plain -e wire -n 5000 --batch 50
says 'note: no rate was set'
expect 0 'a topic is created' produce -t made --partitions 2 --config cleanup.policy=compact -k sequence -e wire \
	-n 500 -r 5000 -i null-key=0.1 --show-rdkafka-view
says 'null-key +[0-9]+  INVALID_RECORD \(87\)$'
says 'record_errors \[[0-9, ]+\] "Compacted topic cannot accept message without key'
says 'illegal  INVALID_RECORD \(87\): Broker: Broker failed to validate record'

# ---- what an observer counted ---------------------------------------------------------------------------------------

# librdkafka's own books: acknowledged is what was accepted or a known duplicate, refused is what was refused.
curl -sf -X PUT "$control/v1/observer" -d '{"classes": "TrafficObserver"}' >/dev/null || bad 'PUT /v1/observer'
expect 0 'a real client, observed' produce -t orders -n 2000 -r 20000 -c lz4 -H trace-id=1 -k 10 -i empty-value=0.05 \
	-X enable.idempotence=true --out "$dir/observed"
curl -sf "$control/v1/observer" >"$dir/traffic.json" || bad 'GET /v1/observer'
jq --slurpfile run "$dir/observed/result.json" '
	[.[].observers[0].metrics.traffic_topic_records_total.samples[] | select(.topic == "orders")] as $samples |
	def sum(f): [$samples[] | select(f) | .value] | add // 0;
	{records: $run[0].phases[0].records, acknowledged: sum(.outcome == "accepted" or .outcome == "duplicate"),
	 accepted: sum(.outcome == "accepted"), refused: sum(.outcome == "refused"),
	 consumed: sum(.direction == "consumed")}' \
	"$dir/traffic.json" >"$dir/books.json"
holds "$dir/books.json" '.acknowledged == .records.acked and .refused >= .records.refused + .records.refusedWithBatch'
holds "$dir/books.json" \
	'.accepted == .consumed and .records.acked + .records.refused + .records.refusedWithBatch == 2000'
curl -sf -X PUT "$control/v1/observer" -d '{"classes": "NoOpObserver"}' >/dev/null

# ---- audits ---------------------------------------------------------------------------------------------------------

row() { # FILE NODE START RECORDS
	echo "{\"v\":1,\"node\":$2,\"instance\":\"i\",\"start\":$3,\"end\":$(($3 + 1000)),\"topic\":\"t\"," \
		"\"produced\":{\"records\":$4,\"bytes\":9}}" >>"$1"
}
row "$dir/a.jsonl" 1 1000 5
row "$dir/b.jsonl" 1 2000 5
expect 0 'the same, later' "$loadgen" report --reconcile "$dir/a.jsonl" "$dir/b.jsonl"
says '^t +1970-01-01T00:00:02.000Z .*shifted$'
row "$dir/b.jsonl" 1 3000 1
expect 1 'one record more' "$loadgen" report --reconcile "$dir/a.jsonl" "$dir/b.jsonl"
says '^t .* 5 +6 +1 +surplus$'
"$loadgen" report --reconcile --json "$dir/a.jsonl" "$dir/b.jsonl" >"$dir/rec.json"
holds "$dir/rec.json" '.same == false and (.topics | length) == 1 and .topics[0].match == "surplus"'
row "$dir/b.jsonl" 1 3000 1
expect 2 'a bucket twice' "$loadgen" report --reconcile "$dir/a.jsonl" "$dir/b.jsonl"
says 'b.jsonl:3: the bucket of line 2 is there again'
true >"$dir/empty.jsonl"
expect 4 'audits without a row' "$loadgen" report --reconcile "$dir/empty.jsonl" "$dir/empty.jsonl"
says '^nothing to compare: neither file has a row$'
expect 4 'the same as JSON' "$loadgen" report --reconcile --json "$dir/empty.jsonl" "$dir/empty.jsonl"
holds "$dir/log" '. == {"same": false, "folded": false, "topics": [], "buckets": []}'
expect 2 'no file' "$loadgen" report --reconcile "$dir/a.jsonl" "$dir/none.jsonl"
expect 2 'nothing to do' "$loadgen" report "$dir/a.jsonl" "$dir/b.jsonl"

# ---- illegal records ------------------------------------------------------------------------------------------------

kinds=()
for kind in crc magic base-offset last-offset-delta count control-flag no-sequence codec-id bad-timestamp; do
	kinds+=(-i "$kind=0.1")
done
expect 0 'every kind that every broker refuses' produce -t plain -e wire -n 3000 -r 10000 "${kinds[@]}" \
	--out "$dir/kinds"
holds "$dir/kinds/result.json" '.phases[0].answers | (map(.of) | unique | length) == 9 and all(.expected)'
holds "$dir/kinds/result.json" '.phases[0] | .total.refusedButPresent == 0 and .total.read == .records.acked'
expect 0 'what validators refuse' produce -t orders -H trace-id=x -e wire -n 2000 -r 10000 -i empty-value=0.1 \
	-i missing-header=0.1 --out "$dir/validators"
holds "$dir/validators/result.json" '.phases[0] | .records.refused > 0 and .records.refusedWithBatch > .records.refused'
expect 0 'the same through librdkafka' produce -t orders -H trace-id=x -n 500 -r 2000 -i empty-value=0.02
expect 1 'a tombstone, which is accepted' produce -t orders -H trace-id=x -e wire -n 100 -r 5000 -i null-value=1
says 'UNEXPECTED'
expect 1 'legal records that a validator refuses' produce -t orders -n 1
says 'legal +1  INVALID_RECORD \(87\)  UNEXPECTED'
expect 0 'the list of kinds' "$loadgen" produce --list-illegal
says '^empty-value +record +87'

# ---- fetch ----------------------------------------------------------------------------------------------------------

expect 0 'reading a topic' "$loadgen" fetch -b "$at" -t made --out "$dir/fetch"
says 'corrupt 0, of others 0'
holds "$dir/fetch/result.json" '.reader.complete and (.reader.partitions | length) == 2'
expect 0 'Fetch requests at a rate' "$loadgen" fetch -b "$at" -t plain -e wire -r 500 -n 100
says 'sent 100 requests in .* 100 answers with records, 0 without, 0 unanswered'
says 'corrupt 0'
expect 0 'ten records, and no more' "$loadgen" fetch -b "$at" -t plain -n 10
says '^read 10 records'
expect 0 'as many as there are' "$loadgen" fetch -b "$at" -t made -n 1000000
says "^read $(jq '[.reader.partitions[].records] | add' "$dir/fetch/result.json") records"
expect 1 'so many from behind the end' "$loadgen" fetch -b "$at" -t plain -n 10 --from 99999999
says 'plain-0: OFFSET_OUT_OF_RANGE \(1\) at offset 99999999$'
echo >"$dir/file"
expect 2 'results into a file' "$loadgen" fetch -b "$at" -t made --out "$dir/file"
says '/file: is a file, not a directory$'
expect 2 'results of a load into a file' produce -t plain -n 1 --out "$dir/file"
says '/file: is a file, not a directory$'
for engine in rdkafka wire; do
	expect 1 "behind the end, $engine" "$loadgen" fetch -b "$at" -t plain --from 99999999 -e "$engine" -d 0.5
	says 'OFFSET_OUT_OF_RANGE \(1\)'
done
expect 1 'behind the end, which is where to stop' "$loadgen" fetch -b "$at" -t plain --from 99999999
says 'plain-0: OFFSET_OUT_OF_RANGE \(1\) at offset 99999999$'

# ---- scenarios ------------------------------------------------------------------------------------------------------

cat >"$dir/upgrade.json" <<-'X'
	{
		"name": "upgrade",
		"phases": [
			{"name": "one", "topic": "plain", "rate": 1000, "duration": 0.25},
			{"name": "two", "topic": "plain", "engine": "wire", "rate": 1000, "duration": 0.25}
		],
		"steps": [
			{"at": 0.1, "upgrade": {"level": 28},
			 "expect": {"error": "INVALID_CONFIG", "message": ["broker 2", "kit.int.min", "512", "28"]}},
			{"at": 0.15, "alterConfigs": {"resource": {"type": "broker", "name": "2"},
			 "set": {"kit.int.min": "2048"}}},
			{"at": 0.2, "upgrade": {"level": 28, "validateOnly": true},
			 "expect": {"error": "INVALID_CONFIG", "message": ["static"]}}
		]
	}
X
expect 0 'steps beside the load' "$loadgen" run "$dir/upgrade.json" -b "$at" --out "$dir/up"
says '^step 1 at 0\.[0-9]+ s  upgrade metadata.version to 28: INVALID_CONFIG \(40\) in [0-9.]+ ms, as expected$'
says '^steps: 3 of 3 as expected$'
holds "$dir/up/result.json" '(.steps | all(.ok)) and (.phases | length) == 2'
sed 's/"broker 2", /"broker 3", /' "$dir/upgrade.json" >"$dir/wrong.json"
expect 1 'an expectation that is not met' "$loadgen" run "$dir/wrong.json" -b "$at"
says 'NOT as expected: the message lacks "broker 3"'
says '^  step 1: the message lacks "broker 3", got INVALID_CONFIG \(40\): .*broker 2'
jq 'del(.steps[0].expect) | .steps |= .[:1]' "$dir/upgrade.json" >"$dir/wrong.json"
expect 1 'a code that is not met' "$loadgen" run "$dir/wrong.json" -b "$at"
says '^  step 1: expected NONE \(0\), got INVALID_CONFIG \(40\): '

# A batch of the run's own that turns up in another topic belongs to no phase there.
cat >"$dir/stray.json" <<-'X'
	{
		"topics": [{"name": "here", "partitions": 1}, {"name": "there", "partitions": 1}],
		"phases": [
			{"name": "first", "topic": "here", "engine": "wire", "rate": 1000, "records": 10},
			{"name": "second", "topic": "there", "engine": "wire", "rate": 10, "duration": 3, "batch": 1}
		]
	}
X
"$loadgen" run "$dir/stray.json" -b "$at" >"$dir/log" 2>&1 &
run=$!
limit=$((SECONDS + 20))
until curl -sf "$control/v1/partitions/there/0" | jq -e '.logEndOffset > 0' >/dev/null; do
	((SECONDS < limit)) || break
done
"$build/conformance" capture -b "$at" --topic here --offset 0 --out "$dir/stray" >/dev/null
printf '{"records": "%s"}' "$(base64 -w 0 "$dir/stray")" |
	curl -sf "$control/v1/partitions/there/0/append" -d @- >/dev/null || bad 'the stray batch'
wait "$run"
equal 'exit code with a stray record' $? 1
says '^  there-0: 10 records corrupt, of no phase that sends there$'
says '^FAILED: 10 violations$'

# ---- a broker that misbehaves ---------------------------------------------------------------------------------------

# rule ACTION: what becomes of the third Produce request from now on
rule() {
	curl -fsS -X PUT "$control/v1/rules/odd" -d "{\"match\": {\"api\": \"Produce\", \"nth\": 3}, \"action\": $1}" \
		>/dev/null
}

rule '{"error": "NOT_LEADER_OR_FOLLOWER"}'
expect 1 'another leader' produce -t plain -e wire -n 100 -r 2000
says 'failed 10, unknown 0'
says 'legal +1  NOT_LEADER_OR_FOLLOWER \(6\)  UNEXPECTED'
rule '{"close": true}'
expect 1 'a connection that is closed' produce -t plain -e wire -n 100 -r 2000 --out "$dir/odd"
says 'legal +[1-9][0-9]*  _TRANSPORT \(-195\)  UNEXPECTED'
holds "$dir/odd/result.json" \
	'.phases[0] | .records.acked + .records.unknown == 100 and .records.acked >= 50 and .total.lost == 0'
rule '{"close": true}'
expect 0 'the same with librdkafka, which sends again' produce -t plain -n 100 -r 1000
says 'read 100, lost 0'
rule '{"delay": 300}'
expect 0 'a stall counts for every record that it holds up' produce -t plain -e wire -n 500 -r 1000 --out "$dir/odd"
holds "$dir/odd/result.json" '.phases[0].latencyNs.response | .max > 250e6 and .p90 > 50e6'
curl -fsS -X DELETE "$control/v1/rules/odd" >/dev/null

# ---- the walk over the levels ---------------------------------------------------------------------------------------

start fixtures/scenarios/demo.json --metadata-version 7 --port 0 || exit 1
expect 0 'a walk from level 7 to 33' "$loadgen" run fixtures/scenarios/demo-walk.json -b "$bootstrap" --out "$dir/walk"
holds "$dir/walk/result.json" '(.steps | length == 74 and all(.ok)) and .phases[0].total.lost == 0'
stop "$pid"

# ---- errors ---------------------------------------------------------------------------------------------------------

sed 's/"rate": 1000/"rat": 1000/' "$dir/upgrade.json" >"$dir/wrong.json"
expect 2 'a misspelt member' "$loadgen" run "$dir/wrong.json" -b "$at"
says "wrong.json:4: .*unknown member \"rat\"; did you mean \"rate\"\?"
sed 's/"rate": 1000/"partitions": 3/' "$dir/upgrade.json" >"$dir/wrong.json"
expect 2 'partitions of a phase' "$loadgen" run "$dir/wrong.json" -b "$at"
says 'described in its member "topics"'
expect 2 'a misspelt option' produce -t plain --rat 5 -n 1
says 'did you mean'
expect 2 'a property of an option of its own' produce -t plain -n 1 -X acks=1
expect 2 'no broker' "$loadgen" produce -t plain -n 1
expect 3 'a broker that is not there' "$loadgen" produce -b 127.0.0.1:1 -t plain -n 1
expect 3 'a topic that is not there' produce -t nowhere -n 1
says 'UNKNOWN_TOPIC_OR_PARTITION\); to create it give --partitions N'
module=org.apache.kafka.common.security.plain.PlainLoginModule
start --port 0 --set listeners=SASL_PLAINTEXT://:9092 --set sasl.enabled.mechanisms=PLAIN \
	--set "listener.name.sasl_plaintext.plain.sasl.jaas.config=$module required user_alice=a;" || cat "$err"
login=(-X security.protocol=sasl_plaintext -X sasl.mechanism=PLAIN -X sasl.username=alice)
expect 3 'a listener that wants a login' "$loadgen" produce -b "$bootstrap" -t t -n 1
says 'closed the connection at the first request .* wants a SASL login; -X security.protocol=sasl_plaintext -X '
expect 3 'a login that is refused' "$loadgen" produce -b "$bootstrap" -t t -n 1 "${login[@]}" -X sasl.password=b
says 'SASL_AUTHENTICATION_FAILED \(58\)'
for engine in rdkafka wire; do
	expect 0 "$engine with a login" "$loadgen" produce -b "$bootstrap" -e $engine -t t --partitions 1 -n 9 -r 900 \
		"${login[@]}" -X sasl.password=a
	says 'verified +read 9, lost 0'
done
expect 3 'a capture where one must log in' "$build/conformance" capture -b "$bootstrap" --topic t --offset 0 \
	--out "$dir/kept"
says 'wants a SASL login; capture has none to give'
expect 3 'a run where one must log in' "$build/conformance" run -b "$bootstrap"
says 'wants a SASL login; "login" in a --profile gives it'
mkdir -p "$dir/blocked/produce.hlog"
expect 2 'a log that cannot be written' produce -t plain -n 1 --out "$dir/blocked"
says 'produce.hlog cannot be written: Is a directory'
expect 4 'stopped by the user' timeout --foreground --preserve-status -s INT 1 "$loadgen" produce -b "$at" -t plain \
	-r 200 -d 60

# ---- the slow broker of the beginning --------------------------------------------------------------------------------

wait "$slow_produce"
equal 'exit code where two records find no room' $? 1
check 'why they do not' grep -q '^  *no room on the connection for 30 s$' "$dir/slow.produced"
holds "$dir/slow.produce/result.json" '.phases[0].records | .sent == 2 and .acked == 2 and .notSent == 2'
wait "$slow_fetch"
equal 'exit code where two requests find no room' $? 4
check 'and that is said' grep -qx '  not sent 2, which are in none of these: no room on the connection for 30 s' \
	"$dir/slow.fetched"
holds "$dir/slow.fetch/result.json" '.requests == 2 and .notSent == 2 and .withRecords == 2'

finish
