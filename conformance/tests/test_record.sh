#!/bin/bash
# fakebroker --record, a real client, conformance inspect and replay together. Nothing here sleeps: a broker is ready
# when its line comes.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh
conformance() { timeout 60 "$build/conformance" "$@"; }
# send ADDRESS HEX: on a connection of its own, and reads until the broker closes.
send() {
	exec 3<>"/dev/tcp/${1%:*}/${1##*:}" || return 1
	printf '%s' "$2" | tr -d ' ' | tr a-f A-F | basenc --base16 -d >&3
	cat <&3 >/dev/null
	exec 3>&-
}
client() {
	timeout 60 kcat -b "$bootstrap" -X fetch.wait.max.ms=20 -X topic.metadata.refresh.fast.interval.ms=20 "$@"
}


# ---- a session: records of several sizes, compressed ones, acks=0, frames that are none ----

start --port 0 --threads 4 --nodes 3 --record "$dir/session.pcap"
seq 1 200 | client -P -t numbers -z zstd >/dev/null 2>&1
head -c 150000 /dev/zero | tr '\0' x | client -P -t large -D '|' >/dev/null 2>&1
echo last | client -P -t numbers -X acks=0 >/dev/null 2>&1
for i in 1 2; do client -C -t numbers -e -q >"$dir/got.$i" 2>/dev/null & readers[i]=$!; done
for i in 1 2; do wait "${readers[i]}"; done
client -C -t large -e -q >"$dir/large" 2>/dev/null
equal 'what the client reads' "$(wc -l <"$dir/got.2") $(wc -c <"$dir/large")" '201 150001'
for address in ${bootstrap//,/ }; do kcat -b "$address" -L >/dev/null 2>&1; done
first=${bootstrap%%,*}
send "$first" '00000010 03e7 0001 00000001 0002 6162 00000000'    # an API that there is not
send "$first" '0000000c 0003 0001 00000009 0002 6d65'                 # a body that ends too early
send "$first" 'ffffff00'
kill -9 "$pid"
wait "$pid" 2>/dev/null

expect 1 'the recording' conformance inspect --brief "$dir/session.pcap"
says '3 wrong; first request of exchange [0-9]+: '
says 'Produce [0-9]+, [0-9]+ bytes, answered after'
says 'Fetch [0-9]+, [0-9]+ bytes, answered after .* with [0-9]{6} bytes'
says 'remark +acks=0: no answer is due'
says 'wrong: the size field says what cannot be'
equal 'brokers in it' "$(grep -oE 'broker 127[^,]*' "$dir/log" | sort -u | wc -l)" 3
equal 'connections without a beginning, holes or other than Kafka' \
	"$(grep -cE 'not captured|missing|begin as Kafka' "$dir/log")" 0
expect 0 'requests of one API' conformance inspect --brief --api Produce "$dir/session.pcap"
says '20[0-9] records, nothing wrong'
produce=$(grep -oE 'exchange [0-9]+' "$dir/log" | head -1)
expect 0 'one of them' conformance inspect --exchange "${produce#* }" "$dir/session.pcap"
says 'value +"1"'
if command -v tshark >/dev/null; then
	ports=()
	for address in ${bootstrap//,/ }; do ports+=(-d "tcp.port==${address##*:},kafka"); done
	tshark -r "$dir/session.pcap" "${ports[@]}" -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE \
		-Y 'tcp.checksum.status == 0 or ip.checksum.status == 0 or tcp.analysis.lost_segment' \
		>"$dir/log" 2>/dev/null
	equal 'packets that tshark finds wrong' "$(wc -l <"$dir/log")" 0
fi

# ---- once more ----

start --port 0 --nodes 3
expect 0 'replay' conformance replay "$dir/session.pcap" --bootstrap-server "${bootstrap%%,*}"
says 'Produce +[0-9]+  same bytes'
says 'Fetch +[0-9]+  same bytes'
says 'Metadata +[0-9]+  same error codes, other values: brokers\[0\]\.port'
says '^[0-9]+ same bytes; [0-9]+ same error codes, other values; 2 no answer, as recorded; [0-9]+ sent'
equal 'records after it' "$(client -C -t numbers -e -q 2>/dev/null | wc -l)" 201
size=$(wc -c <"$dir/session.pcap")
head -c $((size / 2)) "$dir/session.pcap" >"$dir/cut.pcap"
start --port 0 --nodes 3
expect 4 'replay of half of it' conformance replay "$dir/cut.pcap" --bootstrap-server "${bootstrap%%,*}"
says '^the capture is not whole: packet [0-9]+, at byte [0-9]+, is cut off by the end of the file$'
start --port 0 --nodes 3 --set message.max.bytes=100000
expect 1 'replay where large records are refused' conformance replay "$dir/session.pcap" \
	--bootstrap-server "${bootstrap%%,*}"
says 'DIFFERENT: responses\[0\]\.partitionResponses\[0\]\.errorCode is MESSAGE_TOO_LARGE \(10\), was not'
kill -9 "$pid"
wait "$pid" 2>/dev/null
expect 3 'replay to nobody' conformance replay "$dir/session.pcap" --bootstrap-server "${bootstrap%%,*}"
says 'Connection refused'
expect 2 'replay to nowhere' conformance replay "$dir/session.pcap"
says 'bootstrap-server says where'

# ---- a client that breaks off, and one that resets; a broker that is asked to end ----

start --port 0 --record "$dir/ends.pcap"
exec 3<>"/dev/tcp/${bootstrap%:*}/${bootstrap##*:}"
printf '\0\0\0\012\0\022\0\0\0\0\0\007\377\377' >&3
head -c 8 <&3 >/dev/null                       # the rest of the answer stays unread: closing resets
exec 3>&-
exec 3<>"/dev/tcp/${bootstrap%:*}/${bootstrap##*:}"
printf '\0\0\0\012\0\022\0\0\0\0' >&3
exec 3>&-
exec 3<>"/dev/tcp/${bootstrap%:*}/${bootstrap##*:}"
printf '\0\0\0\012\0\022\0\0\0\0\0\007\377\377' >&3
head -c 8 <&3 >/dev/null
kill -TERM "$pid"
wait "$pid"
exec 3>&-
expect 1 'connections that break off' conformance inspect --brief "$dir/ends.pcap"
says 'connection 1 .* 1 exchange, 14 and [0-9]+ bytes, reset'
says 'wrong: the connection ends inside of the frame'
says 'connection 3 .* 1 exchange, 14 and [0-9]+ bytes, closed'

# ---- a file that cannot be written, and one that cannot be written any more ----

"$build/fakebroker" --port 0 --record "$dir/no/such/file" >"$dir/log" 2>&1
equal 'exit code without a file' $? 2
says 'no/such/file: No such file or directory'
(ulimit -f 16 && exec "$build/fakebroker" --port 0 --record "$dir/full.pcap") >"$dir/fifo" 2>"$dir/full.err" &
pid=$!
pids+=("$pid")
line=
IFS= read -r -t 20 line <"$dir/fifo"
bootstrap=${line#*bootstrap=} bootstrap=${bootstrap%% *}
for i in 1 2; do head -c 50000 /dev/zero | tr '\0' x | client -P -t large -D '|' >/dev/null 2>&1; done
equal 'records of a broker that cannot record' "$(client -C -t large -e -q 2>/dev/null | wc -l)" 2
cp "$dir/full.err" "$dir/log"
says 'ERROR --record .*full.pcap: File too large: nothing more is recorded'
equal 'lines about it' "$(grep -c 'nothing more' "$dir/log")" 1
timeout 60 "$build/conformance" inspect --brief "$dir/full.pcap" >"$dir/log" 2>&1
says 'Metadata'
equal 'packets that are cut off' "$(grep -c 'cut off' "$dir/log")" 0

finish
