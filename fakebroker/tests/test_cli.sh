#!/bin/bash
# The fakebroker as a user has it: command line, ready line, port file, signals, exit codes.
# Nothing here sleeps: a broker is ready when its line comes, and has ended when `tail --pid` says so.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh
fb=$build/fakebroker
plugins=$build/plugins

# refused WANTED ARGUMENT...: exit 2, nothing on stdout, one line on stderr.
refused() {
	local wanted=$1 status
	shift
	timeout 20 "$fb" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	equal "exit code of $*" $status 2
	equal "stderr of $*" "$(cat "$dir/err")" "fakebroker: $wanted"
	equal "stdout of $*" "$(cat "$dir/out")" ""
}

# ended PID SECONDS: its exit code, or "still there".
ended() {
	if timeout "$2" tail --pid="$1" -s 0.05 -f /dev/null; then
		wait "$1" 2>/dev/null
		status=$?
	else
		status='still there'
	fi
}

# stopped SIGNAL WANTED: ends the last one.
stopped() {
	kill "-$1" "$pid"
	ended "$pid" 20
	equal "exit code after SIG$1" "$status" "$2"
}

# An ApiVersions request of version 0 with correlation id 7.
api_versions() { printf '\0\0\0\012\0\022\0\0\0\0\0\007\377\377'; }

# answers HOST:PORT: the correlation id of its answer.
answers() {
	exec 3<>"/dev/tcp/${1%:*}/${1##*:}" || return 1
	api_versions >&3
	head -c 8 <&3 | tail -c 4 | od -An -v -tx1 | tr -d ' \n'
	exec 3>&-
}

# get URL PATH
get() {
	exec 3<>"/dev/tcp/127.0.0.1/${1##*:}" || return 1
	printf 'GET %s HTTP/1.0\r\n\r\n' "$2" >&3
	cat <&3
	exec 3>&-
}

# An observer that does not return: it takes some seconds until it is given up, so it begins here and is looked at last.
start --port 0 --set observer.class.name=SlowObserver --set observer.SlowObserver.us=60000000
hung=$pid
exec 4<>"/dev/tcp/127.0.0.1/${bootstrap##*:}"
api_versions >&4
for ((i = 0; i < 1000; i++)); do   # until the request has been taken
	get "$control" /v1/status | grep -q '"requests": 1' && break
done
kill -TERM "$hung"
hung_err=$err

# ---- help, version, lists ----

"$fb" --help >"$dir/help" 2>"$dir/err"
equal 'exit code of --help' $? 0
equal 'stderr of --help' "$(cat "$dir/err")" ''
for option in nodes release metadata-version properties describe-output set node-set plugin host advertise port \
	controller-port control-port port-file threads record seed mutant log-level check list json help version; do
	check "--help tells --$option" grep -q -e "--$option" "$dir/help"
done
equal '--version' "$("$fb" --version)" "fakebroker $(sed -n 's/^VERSION := //p' Makefile)"

for list in apis releases validators observers actions mutants faults; do
	"$fb" --list $list >"$dir/list" 2>&1
	equal "exit code of --list $list" $? 0
	"$fb" --list $list --json >"$dir/json" 2>&1
	equal "exit code of --list $list --json" $? 0
	if command -v python3 >/dev/null; then
		check "--list $list --json is JSON" python3 -m json.tool "$dir/json"
	fi
	# a heading, and then a row for each, up to a blank line
	equal "rows of --list $list" "$(grep -c '"name":' "$dir/json")" \
		"$(($(sed '/^$/,$d' "$dir/list" | grep -c '^ *[A-Za-z0-9]') - 1))"
done
equal 'how faults are switched on' "$("$fb" --list faults | tail -1)" \
	'all of them: --set kit.imitate.faults=true; of one broker: --node-set ID:kit.imitate.faults=true'
check 'what Kafka answers' grep -q '^produce.snappy-preamble .*UNKNOWN_SERVER_ERROR (-1): .*; the broker goes on ' \
	<("$fb" --list faults)
check 'levels of a release to start at' grep -qE '^ *3.9 +4-21 ' <("$fb" --list releases)
refused '--metadata-version: release 3.9 has no metadata.version 3; levels are 4 (3.3-IV0) to 21 (3.9-IV0)' \
	--release 3.9 --metadata-version 3
check '--list apis of a release' grep -qE '^ *0 +Produce +0-11 +broker' <("$fb" --release 3.9 --list apis)
check '--list faults' grep -qE '^transactions.none-to-add +AddPartitionsToTxn 4, 5: no transactions ' \
	<("$fb" --list faults)
check '--list apis' grep -qE '^ *57 +UpdateFeatures +0-2 +broker controller' <("$fb" --list apis)
check '--list mutants' grep -q '^records.crc-unchecked ' <("$fb" --list mutants)
check '--list validators' grep -q '^NonEmptyValue ' <("$fb" --list validators)
check '--list observers' grep -q '^TrafficObserver ' <("$fb" --list observers)
check '--list validators with a plugin' grep -q '^WireFormat .* ids ' \
	<("$fb" --plugin "$plugins/wire_format.so" --list validators)
check '--list observers with a plugin' grep -q '^SlowRequests ' \
	<("$fb" --plugin "$plugins/slow_requests.so" --list observers)
check '--list actions' grep -q '^delay ' <("$fb" --list actions)

# ---- what is wrong with a command line ----

refused 'unknown option --prot; did you mean --port?' --prot 1
refused 'unknown option -x' -x
refused '--port needs a value: --port P' --port
refused '--port: must be 0 to 65535, not 70000' --port 70000
refused '--nodes: must be 1 to 100, not 0' --nodes 0
refused '--threads: must be 1 to 64, not 65' --threads 65
refused '--log-level: unknown choice "loud"; there is debug, info, warn, error' --log-level loud
refused '--list: unknown choice "api"; did you mean "apis"?' --list api
refused '--json is for --list and --check' --json
refused 'unexpected argument "b.json"' a.json b.json
refused 'a.json: cannot be opened: No such file or directory' a.json
refused '--host 0.0.0.0 needs --advertise: the address that clients are told' --host 0.0.0.0
refused '--metadata-version: release 4.4 has no metadata.version 99; levels are 7 (3.3-IV3) to 33 (4.4-IV2)' \
	--metadata-version 99
refused "--nodes 2, but fixtures/scenarios/demo.json has 3 nodes" fixtures/scenarios/demo.json --nodes 2
refused '--port 65535 leaves no port for broker 2' --port 65535 --nodes 2
refused '--set num.partitions: NAME=VALUE is expected' --set num.partitions
refused '--set =1: NAME=VALUE is expected' --set =1
refused '--set num.partitions=x: Invalid value x for configuration num.partitions: Not a number of type INT' \
	--set num.partitions=x
refused '--node-set num.partitions=1: ID:NAME=VALUE is expected' --node-set num.partitions=1
refused '--node-set 1x:num.partitions=1: ID:NAME=VALUE is expected' --node-set 1x:num.partitions=1
refused '--node-set 4294967297:a=b: ID:NAME=VALUE is expected' --node-set 4294967297:a=b
refused '--node-set 2:a=b: there is no broker 2; brokers are 1 to 1' --node-set 2:a=b
refused '--node-set 1000:a=b: there is no broker 1000; brokers are 1 to 1' --node-set 1000:a=b
for id in 3 1000 5000; do
	refused "--node-set $id:kit.imitate.faults=true: there is no broker $id; brokers are 1 to 2" \
		--check --nodes 2 --node-set $id:kit.imitate.faults=true
done
refused '--node-set 2:a=b: there is no broker 2; brokers are 1 to 1' --check --node-set 2:a=b
refused 'listener.security.protocol.map: listener SSL has the protocol SSL; served are PLAINTEXT and SASL_PLAINTEXT' \
	--check --set listeners=SSL://:9092
refused '--node-set 4:a=b: there is no broker 4; brokers are 1 to 3' \
	fixtures/scenarios/demo.json --check --node-set 4:a=b
printf 'num.io.threads=8\n' >"$dir/stray.properties"
refused "$dir/stray.properties:1: there is no broker 7; brokers are 1 to 2" \
	--check --nodes 2 --properties 7:"$dir/stray.properties"
refused '--node-set 8:a=b: there is no node 8; the files name others' \
	--check --properties 7:"$dir/stray.properties" --node-set 8:a=b
equal 'an option of a node that a file names' \
	"$("$fb" --check --properties 7:"$dir/stray.properties" --node-set 7:num.io.threads=9)" ok
refused '--node-set 1:num.partitions=x: Invalid value x for configuration num.partitions: Not a number of type INT' \
	--node-set 1:num.partitions=x
none=$dir/none.so
refused "plugin $none cannot be loaded: $none: cannot open shared object file: No such file or directory" \
	--plugin "$none"
refused "$dir/none.properties: cannot be opened: No such file or directory" --properties "$dir/none.properties"
printf '# two lines\nnum.network.threads=3\n\nnum.partitions=x\n' >"$dir/bad.properties"
refused "$dir/bad.properties:4: Invalid value x for configuration num.partitions: Not a number of type INT" \
	--properties "$dir/bad.properties"
printf 'a=1\nb=\\u12\n' >"$dir/bad.properties"
timeout 20 "$fb" --properties "$dir/bad.properties" 2>"$dir/err"
equal 'exit code of properties that cannot be read' $? 2
check 'the line of properties that cannot be read' grep -q "^fakebroker: $dir/bad.properties:2: " "$dir/err"
refused "no validator 'Nope'" --port 0 --set record.validator.classes=Nope

refused "--set record.validator.RequiredHeader.nmae=a: 'RequiredHeader.nmae' is no option, did you mean 'name'" \
	--set record.validator.RequiredHeader.nmae=a
refused "--node-set 1:observer.TrafficObserver.limits=1: 'TrafficObserver.limits' is no option, did you mean 'limit'" \
	--node-set 1:observer.TrafficObserver.limits=1
refused "--set record.validator.WireFormat.id=1: 'WireFormat.id' is no option, did you mean 'ids'" \
	--plugin "$plugins/wire_format.so" --set record.validator.WireFormat.id=1

# ---- --check ----

equal '--check of what is good' "$("$fb" fixtures/scenarios/demo.json --check 2>&1; echo $?)" $'ok\n0'
equal '--check of nothing' "$("$fb" --check 2>&1; echo $?)" $'ok\n0'
wrong=fakebroker/tests/scenarios/unknown-top.json
refused "$wrong:3: \$.topcis: unknown member \"topcis\"; did you mean \"topics\"?" "$wrong" --check
refused "no observer 'Nope'" --check --set observer.class.name=Nope
"$fb" --check --set num.partition=1 >"$dir/out" 2>"$dir/err"
equal 'exit code with an unknown name' $? 0
unknown='there is no broker configuration num.partition; did you mean num.partitions'
warnings() { sed -n 's/^[^ ]* WARN //p' "$1"; }
equal 'an unknown name is told' "$(warnings "$dir/err")" "--set num.partition=1: $unknown"
printf 'num.partition=2\n' >"$dir/one.properties"
printf '\nnum.partition=2\n' >"$dir/two.properties"
printf '{"nodes": [{"id": 1,\n"config": {"num.partition": "2"}}, {"id": 2}]}\n' >"$dir/unknown.json"
files=(--properties "1:$dir/one.properties" --properties "2:$dir/two.properties")
told="$dir/unknown.json:2: $unknown
$dir/one.properties:1: $unknown
$dir/two.properties:2: $unknown"
"$fb" --check "$dir/unknown.json" "${files[@]}" 2>"$dir/err"
equal 'an unknown name in files, checked' "$(warnings "$dir/err")" "$told"
start "$dir/unknown.json" --port 0 "${files[@]}"
stopped TERM 0
equal 'an unknown name in files' "$(warnings "$err")" "$told"
illegal='broker 2 cannot join: metadata.version 28 makes these configurations illegal: '
illegal+='broker 2 static kit.int.min=512: '
illegal+='Invalid value 512 for configuration kit.int.min: Value must be at least 1024 (rule of level 28)'
refused "$illegal" fixtures/scenarios/demo.json --metadata-version 28 --node-set 2:kit.int.min=512 --port 0
equal '--check names every offender' "$("$fb" fixtures/scenarios/demo.json --metadata-version 28 \
	--node-set 2:kit.int.min=512 --set num.io.threads=0 --check 2>"$dir/err"; echo $?)" \
	'--set num.io.threads=0: all brokers static num.io.threads=0: '\
'Invalid value 0 for configuration num.io.threads: Value must be at least 1
--node-set 2:kit.int.min=512: broker 2 static kit.int.min=512: '"${illegal#*=512: }"'
1'
equal 'what --check says on stderr' "$(cat "$dir/err")" \
	'fakebroker: 2 configurations are illegal at metadata.version 28 (4.2-IV0)'
equal 'findings come before their sum, in one pipe' \
	"$("$fb" --set num.io.threads=0 --check 2>&1 | sed 's/^\(fakebroker\|--set\).*/\1/' | paste -sd' ')" \
	'--set fakebroker'
refused '--describe-output is for --check' --describe-output "$dir/none"
refused "$dir/none: cannot be opened: No such file or directory" --check --describe-output "$dir/none"

# ---- ready line and port file ----

timeout 20 "$fb" --port 0 >/dev/full 2>"$dir/err" </dev/null
equal 'exit code when the ready line cannot be written' $? 3
equal 'what it says then' "$(cat "$dir/err")" 'fakebroker: the output cannot be written: No space left on device'
start --nodes 3 --port 0 --port-file "$dir/ports"
at='127\.0\.0\.1:[0-9]+'
check 'the ready line' grep -qxE "ready bootstrap=$at,$at,$at controller=$at control=http://$at" <<<"$line"
equal 'the port file' "$(cat "$dir/ports")" \
	"{\"bootstrap\":\"$bootstrap\",\"controller\":\"$controller\",\"control\":\"$control\",\"pid\":$pid}"
for address in ${bootstrap//,/ } "$controller"; do
	equal "$address answers" "$(answers "$address")" 00000007
done
check 'the control API answers' grep -q '200 OK' <(get "$control" /v1/status)

# ---- busy ports, side by side ----

first=$pid one=${bootstrap%%,*}
refused "cannot listen on $one: Address already in use" --port "${one##*:}"
refused "cannot listen on $controller: Address already in use" --port 0 --controller-port "${controller##*:}"
refused "cannot listen on ${control#http://} for the control API: Address already in use" --port 0 \
	--control-port "${control##*:}"
start --port 0
equal 'another one beside it' "$(answers "$bootstrap")" 00000007
stopped INT 0
equal 'stderr of one that ends' "$(cat "$err")" ''
equal 'the first is still there' "$(answers "$one")" 00000007
pid=$first
stopped TERM 0

# Two that start at the same moment: one has the port, the other says why it ends.
unused_ports 6
for port in "${ports[@]}"; do
	for who in a b; do
		timeout 20 "$fb" --port "$port" --port-file "$dir/both.$who" >"$dir/out" 2>"$dir/both.$who.err" &
		[ $who = a ] && one=$! || other=$!
	done
	wait -n -p lost "$one" "$other"
	equal 'exit code of the one that lost' $? 2
	[ "$lost" = "$one" ] && lost=a won=b winner=$other || lost=b won=a winner=$one
	equal 'why it ends' "$(cat "$dir/both.$lost.err")" \
		"fakebroker: cannot listen on 127.0.0.1:$port: Address already in use"
	until [ -s "$dir/both.$won" ]; do kill -0 "$winner" || break; done
	equal 'the other one serves' "$(answers "127.0.0.1:$port")" 00000007
	kill "$winner"
	wait "$winner"
	rm -f "$dir/both".*
done

# A broker that is not an ordinary one says so.
start --nodes 2 --port 0 --lax --mutant records.crc-unchecked --node-set 2:kit.imitate.faults=true
check 'a line about --lax' grep -q ' WARN --lax: what is produced is stored unjudged$' "$err"
check 'a line about its mutant' grep -q ' WARN mutant records.crc-unchecked: ' "$err"
get "$control" /v1/status | tr -d ' \r\n' >"$dir/status"
check 'status has --lax and its mutant' grep -qF '"lax":true,"mutants":["records.crc-unchecked"]' "$dir/status"
equal 'who imitates faults' "$(grep -oE '"imitatesFaults":(true|false)' "$dir/status" | cut -d: -f2 | paste -sd' ')" \
	'false true false'
check 'its clock is nobody'\''s' grep -qE '"clock":\{"now":[0-9]+,"frozen":false,"ahead":0\}' "$dir/status"
curl -sS -X POST "$control/v1/clock" -d '{"advance": 86400000, "frozen": true}' >/dev/null
get "$control" /v1/status | tr -d ' \r\n' >"$dir/status"
check 'its clock is ahead' grep -qE '"clock":\{"now":[0-9]+,"frozen":true,"ahead":86[34][0-9]{5}\}' "$dir/status"
stopped TERM 0

# The port of a broker that is stopped stays its own.
start --nodes 2 --port 0
at=${bootstrap##*,}
post() { curl -sS -o /dev/null -w '%{http_code}' -X POST "$1"; }
equal 'a broker is stopped' "$(post "$control/v1/nodes/2/stop")" 200
refused "cannot listen on $at: Address already in use" --port "${at##*:}"
equal 'it starts again' "$(post "$control/v1/nodes/2/start")" 200
equal 'and serves' "$(answers "$at")" 00000007
stopped TERM 0

refused "$dir/none/ports cannot be written: No such file or directory" --port 0 --port-file "$dir/none/ports"
mkdir "$dir/folder"
refused "$dir/folder cannot be written: Is a directory" --port 0 --port-file "$dir/folder"
check 'nothing is left of a port file' test ! -e "$dir/folder.part"

if [ -s /proc/net/if_inet6 ] && start --host ::1 --port 0 && [ -n "$line" ]; then
	at='\[::1\]:[0-9]+'
	check 'addresses of IPv6' grep -qxE "ready bootstrap=$at controller=$at control=http://$at" <<<"$line"
	stopped TERM 0
fi

# ---- SIGKILL leaves nothing behind ----

mkdir "$dir/cwd"
cd "$dir/cwd" || exit 2
unused_ports 3
wanted=(--port "${ports[0]}" --controller-port "${ports[1]}" --control-port "${ports[2]}")
start "${wanted[@]}" --port-file ports
{ kill -9 "$pid" && wait "$pid"; status=$?; } 2>/dev/null   # bash would tell that it was killed
equal 'exit code after SIGKILL' "$status" 137
equal 'files after SIGKILL' "$(ls -A)" ports
start "${wanted[@]}" --port-file ports
equal 'its ports are free again' "${bootstrap##*:} ${controller##*:} ${control##*:}" "${ports[*]}"
equal 'the port file is the new one'\''s' "$(sed 's/.*"pid"://' ports)" "$pid}"
stopped TERM 0
cd "$OLDPWD" || exit 2

# ---- expectations ----

cat >"$dir/expect.json" <<'X'
{ "rules": [ { "name": "asked", "match": { "api": "ApiVersions" }, "action": { "delay": 0 },
	"expect": { "atLeast": 1 } } ] }
X
start "$dir/expect.json" --port 0
stopped TERM 1
equal 'an expectation that is not met' "$(cat "$err")" \
	'fakebroker: expectations not met: asked: 0 hits, expected at least 1'
start "$dir/expect.json" --port 0
answers "$bootstrap" >/dev/null
stopped INT 0

# running PID: it is no shell any more. catching PID: SIGTERM (bit 14) has a handler.
running() { [ "/proc/$1/exe" -ef "$fb" ]; }
catching() { ((0x0$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status") & 1 << 14)); }

# A pipe whose other end is missing holds up the start, and SIGTERM ends that: at once, or if it is there that the port
# file is awaited, in an orderly way.
mkfifo "$dir/unread"
while read -r wanted until option; do
	"$fb" --port 0 ${option:+"$option"} "$dir/unread" >"$dir/out" 2>"$dir/err" </dev/null &
	pid=$!
	pids+=("$pid")
	limit=$((SECONDS + 20))
	until { running "$pid" && "$until" "$pid"; } || ((SECONDS > limit)); do :; done
	kill -TERM "$pid"
	ended "$pid" 20
	equal "exit code with ${option:-a scenario} that nobody opens" "$status" "$wanted"
	equal "stderr with ${option:-a scenario} that nobody opens" \
		"$(grep -v 'nobody reads this pipe yet' "$dir/err")" ''
done <<'X'
143 running --record
143 running --properties
143 running
0 catching --port-file
X

# It says what it waits for.
"$fb" --port 0 --record "$dir/unread" >"$dir/out" 2>"$dir/err" &
pid=$!
pids+=("$pid")
timeout 20 bash -c "until grep -qs reads '$dir/err'; do :; done"
check 'a line about the reader that is missing' grep -qF \
	" WARN --record $dir/unread: nobody reads this pipe yet; starting when somebody does" "$dir/err"
equal 'nothing is said to be ready' "$(cat "$dir/out")" ''
cat "$dir/unread" >"$dir/read" &
reader=$!
timeout 20 bash -c "until grep -qs ^ready '$dir/out'; do :; done"
stopped TERM 0
wait "$reader"
equal 'the file that the reader gets' "$(head -c 4 "$dir/read" | od -An -tx1 | tr -d ' ')" a1b2c3d4

# Without one of them, no socket gets its number, and with it what is printed.
mkfifo "$dir/ports.fifo"
"$fb" --port 0 --port-file "$dir/ports.fifo" --log-level debug >"$dir/out" <&- 2>&- &
pid=$!
pids+=("$pid")
IFS= read -r -t 20 line <"$dir/ports.fifo"
equal 'stdin that was closed' "$(readlink "/proc/$pid/fd/0")" /dev/null
equal 'stderr that was closed' "$(readlink "/proc/$pid/fd/2")" /dev/null
line=${line#*'"bootstrap":"'}
equal 'and it serves' "$(answers "${line%%\"*}")" 00000007
stopped TERM 0
"$fb" --port 0 >&- 2>"$dir/err"
equal 'exit code without stdout' $? 3
equal 'what it says' "$(cat "$dir/err")" 'fakebroker: the output cannot be written: Bad file descriptor'

# ---- hooks ----

if [ -e "$plugins/slow_requests.so" ]; then
	start --port 0 --plugin "$plugins/slow_requests.so" --set observer.class.name=SlowRequests
	check 'a plugin of the command line' grep -q '"name": "SlowRequests"' <(get "$control" /v1/observer)
	stopped TERM 0
	start --port 0 --set "observer.class.name=$plugins/slow_requests.so#SlowRequests"
	check 'a plugin of the configuration' grep -q '"name": "SlowRequests"' <(get "$control" /v1/observer)
	stopped TERM 0
fi

start --nodes 3 --port 0 --set observer.class.name=Nope
check 'an observer that is not there' grep -q "ERROR creating an observer from the class name 'Nope' failed" "$err"
stopped TERM 0
start --nodes 3 --port 0 --set observer.class.name=SlowObserver --set observer.SlowObserver.close.us=60000000 \
	--set observer.shutdown.timeout=100
stopped TERM 0
equal 'observers that do not close' "$(grep -c 'observer SlowObserver did not close within 100 ms' "$err")" 3

ended "$hung" 30
equal 'exit code of one whose observer hangs' "$status" 3
equal 'what it says' "$(cat "$hung_err")" \
	'fakebroker: a validator, an observer or the pipe of --record hangs: ending without it'
exec 4>&-

finish
