#!/bin/bash
# The program as a user runs it, on a fakebroker: verdicts, exit codes, what lies in the output directory.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh
there() { if [ -s "$1" ]; then ok "${1#"$dir"/} is there"; else bad "${1#"$dir"/} is not there"; fi; }

# demo OPTION...: the demo's fakebroker, in place of one that runs; sets at. Silence counts after 2 s instead of 9.
demo() {
	[ ${#pids[@]} = 0 ] || stop "$pid"
	start fixtures/scenarios/demo.json --set "observer.JournalObserver.file=$dir/observed.jsonl" --port 0 \
		--set broker.session.timeout.ms=2000 "$@" || exit 1
	at=${bootstrap%%,*}
}
demo
run() { "$build/conformance" run --bootstrap-server "$at" --seed 1 "$@"; }

expect 0 'every case passes' run --strict --out "$dir/all" --format tap --format junit
says '^[0-9]+ cases on .*: [0-9]+ pass, [0-9]+ disabled$'
for file in result.json report.html result.tap junit.xml; do there "$dir/all/$file"; done
expect 0 'one at a time, too' run --jobs 1 --only 'records.crc.*'
expect 0 'TAP on standard output' run --only 'records.crc.mismatch@v9' --format tap
says '^ok 2 - records.crc.mismatch@v9$'
expect 2 'no case is an error' run --only 'records.crc.mismach'
says 'did you mean "records.crc.mismatch"'
expect 2 'what is to be left out must be there' run --only 'sanity.*' --skip 'registraton.*'
says '^conformance run: --skip "registraton.\*" fits no case; did you mean "registration.\*"\?$'
expect 2 'one glob of two' run --only 'sanity.*' --only nope
says '^conformance run: --only "nope" fits no case'
expect 2 'list has the same rule' "$build/conformance" list --only nope
says '^conformance list: --only "nope" fits no case; `conformance list` shows all$'
expect 2 'no broker is an error' "$build/conformance" run
expect 3 'a broker that is not there' "$build/conformance" run --bootstrap-server 127.0.0.1:1
expect 4 'nothing but what is left out' run --only 'records.crc.*' --skip 'records.*' --skip 'sanity.*'
expect 0 'a case is left out' run --only 'records.crc.*' --skip 'records.crc.mismatch@v9'
says '^disabled +records.crc.mismatch@v9'

# A name that is not what the profile says makes cases fail.
echo '{"names": {"validator.non-empty": "AllowAll"}}' >"$dir/wrong.json"
expect 1 'a failure' run --profile "$dir/wrong.json" --only validators.first-record --out "$dir/red"
says '^fail +validators.first-record  step 1 produce: errorCode: expected INVALID_RECORD \(87\), got NONE \(0\)$'
red=$dir/red/failures/validators.first-record
for file in case.json result.json repeat.sh 1-produce.request 1-produce.request.hex 1-produce.response; do
	there "$red/$file"
done
expect 0 'the folder of a failure runs again, with the right names' "$build/conformance" replay "$red" \
	--bootstrap-server "$at"
expect 0 'what failed runs again, with the right names' run --rerun "$dir/red/result.json"
says '^pass +validators.first-record'
cat >"$dir/known.json" <<-'X'
	{"names": {"validator.non-empty": "AllowAll"}, "capabilities": {"validators": true},
	 "expectedFailures": [{"case": "validators.first-record", "message": "step 1 produce: errorCode",
	  "why": "issue 1"}]}
X
expect 0 'a failure that is expected' run --profile "$dir/known.json" --only validators.first-record
says '^xfail +validators.first-record'
says '^pass +profile.validators'
sed 's/"AllowAll"/"NonEmptyValue"/; s/true/false/' "$dir/known.json" >"$dir/stale.json"
expect 1 'a pass that is not expected, a claim that is wrong' run --profile "$dir/stale.json" \
	--only validators.first-record
says '^xpass +validators.first-record'
says '^fail +profile.validators'
echo '{"names": {"validator.non-empty": null}}' >"$dir/none.json"
expect 0 'a name that the target does not have' run --profile "$dir/none.json" --only validators.first-record
says '^unsupported +validators.first-record  the profile has no name for validator.non-empty'
echo '{"capabilitis": {}}' >"$dir/bad.json"
expect 2 'a profile that is not right' run --profile "$dir/bad.json"
says 'bad.json:1: .*unknown member "capabilitis"; did you mean "capabilities"'
echo '{"disabled": ["sanity.*", "registraton.*"]}' >"$dir/bad.json"
expect 2 'a glob of a profile that fits nothing' run --profile "$dir/bad.json"
says 'bad.json:1: \$.disabled\[1\]: "registraton.\*" fits no case; did you mean "registration.\*"\?$'
echo '{"expectedFailures": [{"case": "records.crc.mismach", "message": "", "why": "x"}]}' >"$dir/bad.json"
expect 2 'nor one that is expected to fail' run --profile "$dir/bad.json"
says 'bad.json:1: \$.expectedFailures\[0\].case: "records.crc.mismach" fits no case; did you mean'

for file in fixtures/incidents/*.json; do
	id=$(basename "$file" .json)
	expect 0 "incident $id" "$build/conformance" replay "$id" --bootstrap-server "$at"
	says '^pass$'
done
expect 2 'an incident that there is not' "$build/conformance" replay S99 --bootstrap-server "$at"
expect 0 'probe' "$build/conformance" probe --bootstrap-server "$at" --write "$dir/probed.json"
ln -s linked.json "$dir/link.json"
expect 0 'probe through a link' "$build/conformance" probe --bootstrap-server "$at" --write "$dir/link.json"
there "$dir/linked.json"
expect 0 'probe to a pipe' bash -c '"$0" probe -b "$1" --write /dev/stdout | grep \"capabilities\"' \
	"$build/conformance" "$at"
expect 0 'a probed profile runs' "$build/conformance" run --profile "$dir/probed.json" --only 'sanity.*'
expect 0 'the matrix' "$build/conformance" report "$dir/all/result.json" "$dir/red/result.json" --out "$dir/matrix"
there "$dir/matrix/report.html"
expect 2 'a file that is no result' "$build/conformance" report "$dir/bad.json" --out "$dir/matrix"
for command in list requirements lint; do expect 0 "$command" "$build/conformance" $command; done
expect 0 'list --edits' "$build/conformance" list --edits
says '^set-length +at value'
expect 0 'show' "$build/conformance" show records.crc.mismatch
expect 2 'show what is not there' "$build/conformance" show records.crc.mismach

expect 2 'lint of what are no cases' "$build/conformance" lint --data "$dir"
expect 2 'run with an output directory that is a file' run --only 'sanity.*' --out "$dir/bad.json"
says '^conformance run: .*/bad.json: is a file, not a directory$'
expect 2 'report, too' "$build/conformance" report "$dir/all/result.json" --out "$dir/bad.json"
says '^conformance report: .*/bad.json: is a file, not a directory$'
expect 2 'capture into a directory' "$build/conformance" capture -b "$at" --topic t --offset 0 --out "$dir"
says '^conformance capture: .*: is a directory, not a file$'

# A few cases are enough to see what the command does; with all of them it takes minutes under ThreadSanitizer.
cp -r conformance "$dir/data"
ln -s "$PWD/fixtures" "$dir/fixtures"
find "$dir/data/cases" -name '*.json' ! -path '*/sanity/*' ! -name 'crc.*' ! -name 'size.*' ! -name 'order.*' \
	! -name 'default.json' -delete
mutants() { "$build/conformance" mutants --data "$dir/data" "$@"; }
expect 0 'three mutants' mutants --only records.crc-before-size --only validators.reversed --only frames.limit-inclusive
says '^good +validators.reversed  1 red$'
says '^3 of 3 mutants, [0-9]+ cases: each turns exactly its listed cases red$'
sed -i 's/"validators.order"/"validators.default"/' "$dir/data/mutants/validators.json"
expect 1 'a mutant that is not as listed' mutants --only validators.reversed
says '^ +listed, but green  validators.default$'
says '^ +red, but not listed  validators.order$'
sed -i 's/"validators.default"/"validators.ordr"/' "$dir/data/mutants/validators.json"
expect 1 'lint of a list with an unknown case' "$build/conformance" lint --data "$dir/data"
says 'unknown case "validators.ordr"; did you mean "validators.order"'
expect 2 'no mutant is an error' "$build/conformance" mutants --only 'records.crc-*' --only 'records.crc-befor-size'
says 'fits no mutant; did you mean "records.crc-before-size"'
cat >"$dir/dies" <<-X
	#!/bin/sh
	case "\$*" in *--mutant*) ;; *) exec "$build/fakebroker" "\$@" ;; esac
	trap '' TERM
	printf 'first\nthe\001last\n' >&2
	echo 'ready bootstrap=127.0.0.1:1'
	kill -s SEGV \$\$
X
chmod +x "$dir/dies"
expect 3 'a mutant that dies' mutants --fakebroker "$dir/dies" --only records.crc-before-size
says '^error +records.crc-before-size  the fakebroker was ended by signal 11$'
says '^ +\| first$'
says '^ +\| the\?last$'
expect 3 'no program' mutants --fakebroker "$dir/nosuch"
says '^conformance mutants: .*/nosuch: No such file or directory$'
expect 3 'a folder' mutants --fakebroker "$dir"
says '^conformance mutants: .*: is a directory, not a program$'
expect 3 'another program' mutants --fakebroker "$(type -P true)"
says '^conformance mutants: .*/true is no fakebroker: `--list mutants --json` lists none$'
expect 2 'a mutant that there is not' "$build/fakebroker" --mutant validators.reverse --check
says 'unknown mutant "validators.reverse"; did you mean "validators.reversed"'

kill -0 "$pid" || bad 'the broker is gone'
capture() { "$build/conformance" capture -b "$at" --topic orders "$@"; }
echo precious >"$dir/kept"
expect 3 'capture beyond the end' capture --offset 99999999 --out "$dir/kept"
says 'orders-0 at offset 99999999: OFFSET_OUT_OF_RANGE'
equal 'and the older file' "$(cat "$dir/kept")" precious
expect 3 'capture of a topic that is not there' "$build/conformance" capture -b "$at" --topic nosuch --offset 0 \
	--out "$dir/kept"
says 'no leader of nosuch-0: UNKNOWN_TOPIC_OR_PARTITION'
expect 2 'capture of a name that no topic has' capture --topic "$(printf 'x%.0s' {1..250})" --offset 0 --out "$dir/kept"
expect 2 'capture from what is no address' "$build/conformance" capture -b 127.0.0.1:99999 --topic t --offset 0 \
	--out "$dir/kept"

expect 0 'what is destructive waits to be asked for' run --only '*.walk'
says '^disabled +features.walk  destructive: runs only with --destructive$'
expect 0 'and does no harm here' run --only '*.hostile.*' --only '*.unknown-operation' --destructive
says '^pass +registration.hostile.empty-name$'
demo --metadata-version 7
expect 0 'all levels, with configs that are illegal at some' run --only 'config.*' \
	--destructive --strict --out "$dir/walk"
says '^pass +config.walk$'
asked=$(jq '[.cases[] | select(.id == "config.walk") | .steps[] | .got.asked // 0] | add' "$dir/walk/result.json")
if [ "$asked" -ge 4000 ]; then ok "it asked $asked times"; else bad "it asked $asked times only"; fi
demo --metadata-version 7
expect 0 'all levels, as Kafka has them' run --only features.walk --destructive --strict
says '^pass +features.walk$'
demo --set kit.registration.version=4
expect 0 'an old controller is not sent what it does not list' run --only 'mvconfig.register.*'
says '^unsupported +mvconfig.register.refused  .*the controller lists BrokerRegistration 0 to 4$'

demo --release 4.1
expect 0 'a level that the release does not have' run --only 'mvconfig.alter.*'
says '^unsupported +mvconfig.alter.refused  ApiVersions lists metadata.version 7 to 27, not 28$'
says '^pass +mvconfig.alter.no-rule$'
demo --metadata-version 13
expect 0 'a level that is too low for a case' run --only 'registration.*'
says '^unsupported, [0-9]+ cases?: metadata.version is 13, the case needs'
equal 'hints about the scenario, which is all there' "$(grep -c 'was started without' "$dir/log")" 0
expect 4 'a feature that is off' "$build/conformance" replay S24 --bootstrap-server "$at"
says '^unsupported: elr: ApiVersions names no finalized eligible.leader.replicas.version$'
stop "$pid"
start --port 0 --set log.cleaner.min.compaction.lag.ms=60000 --set log.cleaner.delete.retention.ms=0 \
	--set log.message.timestamp.type=LogAppendTime --set compression.type=zstd || exit 1
at=$bootstrap
expect 0 'defaults of a broker are no fault of its compaction' run --only 'compaction.*' --strict
stop "$pid"
start --port 0 || exit 1
at=$bootstrap
expect 0 'a fakebroker without the scenario' run --only 'mvconfig.alter.*'
says '^The fakebroker was started without the scenario fixtures/scenarios/demo.json \(mv-config, mv-topic-config\)$'
expect 0 'its probe' "$build/conformance" probe --bootstrap-server "$at"
hint='^The fakebroker .*demo.json \(mv-config, mv-topic-config\), --nodes 3 \(brokers\), '
says "$hint"'--set observer.*=FILE \(observations\)$'
curl -sX POST "$control/v1/clock" -d '{"advance": -86400000}' >/dev/null
expect 1 'a clock that is a day behind' run --only 'records.codec.*' --skip 'sanity.*'
says '^[0-9]+ cases failed with INVALID_TIMESTAMP: do the clocks of this machine and of the broker agree\?$'
stop "$pid"
start --port 0 --controller-port 0 --release 3.9 || exit 1
at=$bootstrap
expect 1 'an earlier release' run --only 'transactions.init.*'
says '^1 of the 1 failures is as --profile .*/profiles/kafka-3.9.json expects$'
expect 0 'with its profile' run --only 'transactions.init.*' --profile conformance/profiles/kafka-3.9.json
equal 'no hint' "$(grep -c 'as --profile' "$dir/log")" 0

# Of what cannot be read there is no end to go on from.
cat >"$dir/data/cases/fetch/unreadable.json" <<-'X'
	{"id": "fetch.unreadable", "title": "A batch that cannot be read is told once",
	 "requirements": ["fetch.offset"], "topics": {"topic": {}},
	 "steps": [
	  {"produce": {"topic": "$topic", "batches": [{"records": [{"value": "a"}]}]}, "expect": {"error": "NONE"}},
	  {"produce": {"topic": "$topic", "batches": [{"records": [{"value": "b"}], "count": 2, "crc": "fix"}]},
	   "expect": {"error": "NONE"}},
	  {"fetch": {"topic": "$topic", "offset": 0, "toEnd": true},
	   "expect": {"error": "NONE",
	    "body": {"records": [{"offset": 0}, {"offset": 1}, {"unreadable": {"$any": true}}]}}}]}
X
stop "$pid"
start --port 0 --lax || exit 1
at=$bootstrap
expect 0 'a batch that cannot be read is told once' run --data "$dir/data" --only fetch.unreadable
says '^pass +fetch.unreadable$'

# refuse API ERROR: a rule in place of the one before.
refuse() {
	curl -sX PUT "$control/v1/rules/refuse" -d '{"match": {"api": "'"$1"'"}, "action": {"error": "'"$2"'"}}' \
		>/dev/null
}

# A fetch that is refused does not say that a record is gone.
cat >"$dir/data/cases/fetch/refused.json" <<-'X'
	{"id": "fetch.refused", "title": "A refusal is no proof", "requirements": ["fetch.offset"],
	 "topics": {"topic": {"configs": {"cleanup.policy": "compact"}}},
	 "steps": [{"produce": {"topic": "$topic", "batches": [{"records": [{"key": "a", "value": "1"}]}]},
	            "expect": {"error": "NONE"}},
	           {"compact": {"topic": "$topic", "gone": 0},
	            "expect": {"error": "NOT_LEADER_OR_FOLLOWER", "body": {"gone": false}}}]}
X
jq '.id = "fetch.beyond" | del(.steps[0])' "$dir/data/cases/fetch/refused.json" >"$dir/data/cases/fetch/beyond.json"
expect 3 'a record beyond the end proves nothing' run --data "$dir/data" --only fetch.beyond
says '^error +fetch.beyond  step 1 compact: there is no record 0 to be taken away: the log ends at offset 0$'
jq '.id = "fetch.kept" | .topics.topic = {}' "$dir/data/cases/fetch/refused.json" >"$dir/data/cases/fetch/kept.json"
expect 3 'a topic that is not compacted' run --data "$dir/data" --only fetch.kept
says '^error +fetch.kept  step 2 compact: the control API answers 4[0-9]+: [^{}?]+$'
refuse Fetch NOT_LEADER_OR_FOLLOWER
expect 0 'a refusal is no proof' run --data "$dir/data" --only fetch.refused --skip 'sanity.*'
says '^pass +fetch.refused$'
refuse DescribeConfigs CLUSTER_AUTHORIZATION_FAILED
expect 0 'a probe that may not see configurations' "$build/conformance" probe --bootstrap-server "$at"
says 'DescribeConfigs of broker 1: CLUSTER_AUTHORIZATION_FAILED \(31\)'
refuse DescribeQuorum CLUSTER_AUTHORIZATION_FAILED
expect 0 'nor the quorum' "$build/conformance" probe --bootstrap-server "$at"
says 'DescribeQuorum answered CLUSTER_AUTHORIZATION_FAILED \(31\)'

finish
