#!/bin/bash
# conformance inspect as a user runs it: the trees of segments that Kafka 4.4.0 wrote, forms of files, exit codes.
# UPDATE=1 writes the expected trees anew.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh
data=conformance/tests/data

inspect() { "$build/conformance" inspect "$@"; }
# The bytes that hex stands for.
unhex() { tr -d ' \n' | tr a-f A-F | basenc --base16 -d; }
# tree NAME: what was said is what is expected.
tree() {
	[ -z "${UPDATE:-}" ] || cp "$dir/log" "$data/$1.txt"
	if cmp -s "$dir/log" "$data/$1.txt"; then ok "the tree is $1.txt"; else bad "the tree is not $1.txt"; fi
}

segments=("$data"/kafka-4.4.0-{none,gzip,snappy,lz4,zstd,txn}.hex)
expect 0 'what Kafka wrote' inspect --stored "${segments[@]}"
tree inspect-segments
expect 0 'a line for each batch' inspect --stored --brief "${segments[@]}"
tree inspect-brief
expect 1 'an incident' inspect fixtures/incidents/S03.json
tree inspect-S03
for file in fixtures/incidents/*.json; do
	"$build/conformance" inspect --brief "$file" 2>&1 | tail -1
done | sed 's/within \[.*\]$/within [what the present allows]/' >"$dir/log"
tree inspect-incidents

# The same bytes in other forms.
segment=$dir/00000000000000000000.log
unhex <"$data/kafka-4.4.0-none.hex" >"$segment"
touch "${segment%.log}.index" "${segment%.log}.timeindex"
expect 0 'a segment' inspect "$segment"
says '00000000000000000000\.index +offset index: 0 entries'
says 'segment, |log segment$'
expect 0 'its index' inspect "${segment%.log}.index"
says 'offset index: 0 entries'
# A snapshot of the metadata log, whose batches begin at 0 wherever it ends.
snapshot=$dir/00000000000000000008-0000000001.checkpoint
unhex <"$data/kafka-4.4.0-snapshot.hex" >"$snapshot"
expect 0 'a snapshot' inspect "$snapshot"
says 'SNAPSHOT_HEADER'
says '3 batches, 8 records, nothing wrong$'
cat >"$dir/xxd.txt" <<-'X'
	00000000: 0000 0019 0003 0001 0000 0007 0002 6d65  ..............me
	00000010: 0000 0002 0003 6162 6300 0264 65         ......abc..de
X
expect 0 'what xxd makes of a request' inspect "$dir/xxd.txt"
says '"abc"'
cat >"$dir/hexdump.txt" <<-'X'
	00000000  00 00 00 19 00 03 00 01  00 00 00 07 00 02 6d 65  |..............me|
	00000010  00 00 00 02 00 03 61 62  63 00 02 64 65           |......abc..de|
	0000001d
X
expect 0 'what hexdump -C makes of it' inspect "$dir/hexdump.txt"
says '"abc"'
# Of equal lines, here of a value of 300 times "a", hexdump leaves out all but the first.
cat >"$dir/starred.txt" <<-'X'
	00000000  00 00 00 00 00 00 00 00  00 00 01 66 00 00 00 00  |...........f....|
	00000010  02 93 25 e4 7d 00 00 00  00 00 00 00 00 01 8b cf  |..%.}...........|
	00000020  e5 68 00 00 00 01 8b cf  e5 68 00 ff ff ff ff ff  |.h.......h......|
	00000030  ff ff ff ff ff ff ff ff  ff 00 00 00 01 e6 04 00  |................|
	00000040  00 00 01 d8 04 61 61 61  61 61 61 61 61 61 61 61  |.....aaaaaaaaaaa|
	00000050  61 61 61 61 61 61 61 61  61 61 61 61 61 61 61 61  |aaaaaaaaaaaaaaaa|
	*
	00000170  61 00                                             |a.|
	00000172
X
expect 0 'lines that hexdump left out' inspect "$dir/starred.txt"
says '^.*starred.txt: 1 batch, 1 record, nothing wrong$'
sed 3d "$dir/starred.txt" >"$dir/gone.txt"
expect 2 'a line that is gone' inspect --stored "$dir/gone.txt"
says 'gone.txt:3: begins at offset 30, but the bytes before end at 20$'
sed 's/^\*$/.../' "$dir/starred.txt" >"$dir/dots.txt"
"$build/conformance" inspect --json "$dir/dots.txt" >"$dir/json" 2>"$dir/log"
holds "$dir/json" '.fields[-1].value == "line 7: is no line of a dump, as those before"'
cat >"$dir/1-send.request.hex" <<-'X'
	000000  00 00 00 19 00 03 00 01 00 00 00 07 00 02 6d 65  ..............me
	000010  00 00 00 02 00 03 61 62 63 00 02 64 65           ......abc..de
X
expect 0 'what lies in the folder of a failure' inspect "$dir/1-send.request.hex"
says '"abc"'
"$build/conformance" inspect --stored - <"$segment" >"$dir/log" 2>&1 && says 'nothing wrong'
cp "$segment" "$dir/00000000000000000007.log"
expect 1 'a segment with a wrong name' inspect "$dir/00000000000000000007.log"
says 'byte 0 of batch 0: baseOffset is 0, but offsets up to 6 are in front of it'

# What lies beside a segment: Kafka 4.4.0 wrote all of it; the second segment is the active one.
orders=$dir/orders-0
fresh() { rm -rf "$orders"; cp -r "$data/kafka-4.4.0-orders-0" "$orders"; }
# put FILE OFFSET BYTES: writes bytes into a file of the folder.
put() { printf '%b' "$3" | dd of="$orders/$1" bs=1 seek="$2" conv=notrunc status=none; }
fresh
old=00000000000000000000 active=00000000000000000037
expect 0 'a segment with its indexes' inspect --brief "$orders/$old.log"
says '^ +0 +96 +0+\.index +offset index: 12 entries$'
says '^ +0 +144 +0+\.timeindex +time index: 12 entries$'
says '^ +0 +68 +0+\.txnindex +index of aborted transactions: 2 entries$'
says '^ +0 +8 +leader-epoch-checkpoint +leader epochs: 1$'
says '37 batches, 37 records, nothing wrong'
expect 0 'an active segment, whose indexes have room' inspect --brief "$orders/$active.log"
says 'offset index: 1 entry, room for 511 more'
says 'time index: 1 entry, room for 340 more'
says 'producers in front of offset 37: 1'
expect 0 'each alone' inspect "$orders/$old".{index,timeindex,txnindex} "$orders/$active.snapshot" \
	"$orders/leader-epoch-checkpoint" "$orders/partition.metadata"
says '^ +8 +8 +entry 1 +offset 6 at byte 546$'
says '^ +12 +12 +entry 1 +timestamp 1796001018758 at offset 6$'
says '^ +34 +34 +entry 1 +producer 0, offsets 22 to 25, last stable offset 26$'
says 'producer 0 +epoch 0, last sequence 20 at offset 32$'
says 'epoch 0 +from offset 0 on$'
says 'topic id +1s6anpRoSdO5VRzzdzXfEQ$'
put $old.index 12 '\00\00\02\043'
expect 1 'a position inside of a batch' inspect --brief "$orders/$old.log"
says 'first byte 12 of 0+\.index, entry 1: no batch begins at position 547$'
fresh
put $old.index 11 '\05'
expect 1 'an offset in front of the position' inspect --brief "$orders/$old.log"
says 'first byte 8 of 0+\.index, entry 1: the batch that ends with offset 5 begins at 455, in front of position 546$'
fresh
put $old.index 91 '\062'
expect 1 'an offset that the segment has not' inspect --brief "$orders/$old.log"
says 'first byte 88 of 0+\.index, entry 11: offset is 50, no batch ends with it$'
fresh
put $old.index 88 '\00\00\00\044\00\00\017\0377'
expect 1 'a position behind the end' inspect --brief "$orders/$old.log"
says 'entry 11: position 4095 is behind the last batch that can be read, which ends at 3318$'
fresh
put $old.index 8 '\00\00\00\00\00\00\00\00'
expect 1 'zeros in front of other entries' inspect "$orders/$old.index"
says 'entry 1: offset 0 does not rise: the entry before has 3$'
fresh
truncate -s 139 "$orders/$old.timeindex"
expect 1 'a cut index' inspect --brief "$orders/$old.log"
says 'timeindex: 139 bytes, which is no whole number of entries of 12$'
fresh
put $old.timeindex 7 '\065'
expect 1 'a wrong timestamp' inspect --brief "$orders/$old.log"
says 'timeindex, entry 0: timestamp is 1796001017653, the batch with offset 3 has maxTimestamp 1796001017652$'
fresh
put $old.timeindex 23 '\0144'
expect 1 'an offset that the segment does not have' inspect --brief "$orders/$old.log"
says 'timeindex, entry 1: no batch has offset 100$'
fresh
put $old.txnindex 59 '\030'
expect 1 'an aborted transaction without its marker' inspect --brief "$orders/$old.log"
says 'txnindex, entry 1: at lastOffset 24 there is no abort marker of producer 0$'
says 'no entry for the abort marker of producer 0 at offset 25 \(byte 2253 of the segment\)$'
fresh
truncate -s 34 "$orders/$old.txnindex"
expect 1 'a transaction that the index lacks' inspect --brief "$orders/$old.log"
says 'no entry for the abort marker of producer 0 at offset 25'
fresh
put $active.snapshot 20 '\01'
expect 1 'a snapshot with a wrong crc' inspect "$orders/$active.snapshot"
says 'snapshot: crc says 195a985b, the bytes behind it have'
fresh
printf '0\n1\n3 0\n' >"$orders/leader-epoch-checkpoint"
expect 1 'another leader epoch' inspect --brief "$orders/$active.log"
there='the batch there \(byte 0 of the segment\) has partitionLeaderEpoch 0'
says "leader-epoch-checkpoint: says epoch 3 for offset 37, $there\$"
printf '0\n2\n3 0\n' >"$orders/leader-epoch-checkpoint"
expect 1 'a checkpoint that is cut' inspect "$orders/leader-epoch-checkpoint"
says 'not what Kafka writes'
printf 'version: 0\ntopic_id: short\n' >"$orders/partition.metadata"
expect 1 'no topic id' inspect "$orders/partition.metadata"
fresh
# What the same broker made of these when it recovered its log: it cut the segment at bytes 93, 372 and 465.
put $active.log 150 '\0377'
expect 1 'a batch with a wrong byte' inspect --brief "$orders/$active.log"
says 'log recovery +cuts the segment at byte 93 \(batch 1\): its crc is wrong'
fresh
truncate -s 455 "$orders/$active.log"
expect 1 'a segment that is cut' inspect --brief "$orders/$active.log"
says 'log recovery +cuts the segment at byte 372 \(batch 4\): '
fresh
head -c 100 /dev/zero >>"$orders/$active.log"
expect 1 'zeros behind the last batch' inspect --brief "$orders/$active.log"
says 'log recovery +cuts the segment at byte 465 \(batch 5\): Record size 0'
fresh
put $active.log 100 '\05'
expect 1 'an offset in front of the segment' inspect --brief "$orders/$active.log"
says 'log recovery +fails, and the broker does not start, at byte 93 \(batch 1\): offset 5 is in front'
fresh
put $active.log 109 '\07'
expect 1 'a magic that Kafka does not have' inspect --brief "$orders/$active.log"
says 'log recovery +keeps all 465 bytes'

# What Kafka would answer.
expect 1 'the newest' inspect fixtures/incidents/S03.json
says 'Kafka 4.4 answers +INVALID_RECORD \(87\)$'
expect 1 'another release' inspect --release 4.1.1 fixtures/incidents/S03.json
says 'Kafka 4.1 answers +INVALID_RECORD \(87\)$'
says 'its log says +Inconsistent batch offset range \[0, 0\] and count of records 2 in topic partition topic-0$'
says 'meters that move +InvalidOffsetOrSequenceRecordsPerSec \+1, FailedProduceRequestsPerSec \+1$'
says 'taken for granted +Produce 3, a topic that nobody configured$'
head -c 521 <(unhex <"$data/kafka-4.4.0-none.hex") >"$dir/batch"
expect 1 'a time to come' inspect --release 4.4 --now 1795990000000 "$dir/batch"
says 'Kafka 4.4 answers +INVALID_TIMESTAMP \(32\)$'
says 'record_errors, 0 +Timestamp 1795995367737 of message with offset 0 is out of range'
says 'first byte 0 of batch 0: record 0: Timestamp 1795995367737'
expect 0 'which 3.9 did not mind' inspect --release 3.9 --now 1795990000000 "$dir/batch"
says 'Kafka 3.9 answers +NONE \(0\), as far as the bytes decide$'
expect 0 'nor a topic with another limit' inspect --release 4.4 --now 1795990000000 "$dir/batch" \
	--topic-config message.timestamp.after.max.ms=9000000
expect 1 'a topic with a smaller limit' inspect --topic-config max.message.bytes=520 "$dir/batch"
says 'MESSAGE_TOO_LARGE \(10\)$'
says 'meters that move +BytesRejectedPerSec \+521$'
expect 0 'of a segment too, in the words of its topic' inspect --release 4.4 --topic-config cleanup.policy=compact \
	"$orders/$old.log"
says 'Clients are not allowed to write control records in topic partition orders-0$'
says 'epoch and sequence \(45, 47, and 48 outside of a transaction\)'
says 'Produce 13, with baseOffset 0'
cat >"$dir/old.json" <<-'X'
	{"batches": [{"magic": 1, "records": [{"key": "k", "value": "v", "timestamp": 1}]}]}
X
expect 1 'an old message' inspect --release 4.0 "$dir/old.json"
says 'Kafka 4.0 answers +INVALID_RECORD \(87\)$'
expect 1 'which 3.9 took' inspect --release 3.9 "$dir/old.json"
says 'Kafka 3.9 answers +NONE \(0\), as far as the bytes decide$'
says 'taken for granted +Produce 2, '
# Produce 2 with two messages of magic 1: the whole record set is judged.
{
	echo '0000 0002 00000001 ffff 0001 00002710 00000001 0001 74 00000001 00000000 00000044'
	echo '0000000000000000 00000016 eb2ed3ae 01 00 0000000000000001 ffffffff 00000000'
	echo '0000000000000001 00000016 eb2ed3ae 01 00 0000000000000001 ffffffff 00000000'
} >"$dir/produce2.hex"
expect 1 'an old request, whose crc is wrong' inspect --release 3.9 "$dir/produce2.hex"
says 'Kafka 3.9 answers +CORRUPT_MESSAGE \(2\)$'
crc=$(sed -n 's/.*computed: \(........\).*/\1/p' "$dir/log" | head -1)
sed -i "s/eb2ed3ae/$crc/" "$dir/produce2.hex"
expect 0 'an old request' inspect --release 3.9 "$dir/produce2.hex"
says 'Kafka 3.9 answers +NONE \(0\), as far as the bytes decide$'
says 'taken for granted +Produce 2, '
expect 1 'which 4.0 does not serve' inspect --release 4.0 "$dir/produce2.hex"
says 'Kafka 4.0 answers +nothing: it closes the connection$'
says 'Kafka 4.0 serves Produce 3 to 12, not 2$'
expect 2 'no such release' inspect --release 2.8 "$dir/batch"
says 'must be one of 3.9, 4.0, 4.1, 4.2, 4.3, 4.4, not "2.8"'
expect 2 'no such configuration' inspect --topic-config cleanup.polcy=compact "$dir/batch"
says 'did you mean "cleanup.policy"'

# Wrong bytes.
printf '\x07' | dd of="$segment" bs=1 seek=60 conv=notrunc 2>/dev/null
expect 1 'a wrong count' inspect "$segment"
says 'first byte 57 of batch 0: count says 7, lastOffsetDelta says 4$'
says '\^\^\^\^\^'
truncate -s -1 "$segment"
expect 1 'a cut segment' inspect "$segment"
says '520 bytes of a batch of 521, then all ends'
expect 1 'batches of a broker are none of a client' inspect --produced "$data/kafka-4.4.0-txn.hex"
says 'INVALID_RECORD \(87\)'

# Frames.
echo '00000019 0003 0001 00000007 0002 6d65 00000002 0003 616263 0002 6465' >"$dir/request.hex"
expect 0 'a request' inspect "$dir/request.hex"
says 'Metadata 1 request'
echo '00000010 00000007 0000 00000001 0012 0000 0004' | unhex >"$dir/response"
expect 0 'a response' inspect --response ApiVersions:0 "$dir/response"
says 'errorCode +0  NONE'
says 'apiKey +18  ApiVersions'

# JSON.
"$build/conformance" inspect --json --stored "${segments[0]}" >"$dir/json"
equal 'JSON' "$(jq -r '.fields[0].fields[] | select(.name == "count").value' "$dir/json")" 5
"$build/conformance" inspect --json fixtures/incidents/S03.json >"$dir/json"
if [ "$(jq -c '[.. | objects | select(.fault) | .at, .errorCode]' "$dir/json")" = '[108,87]' ]; then
	ok 'the fault in JSON'
else
	bad 'the fault in JSON'
fi

# A capture of a network, whose first byte is not the file's.
tail -c +2 conformance/fuzz/corpus/pcap/tree >"$dir/capture.pcap"
expect 1 'a capture' inspect "$dir/capture.pcap"
says 'first request of exchange 1: byte 6: ApiVersionsRequest has no version 99'
says 'connection 1, 0.004000 s, Produce 3, 30 bytes$'
expect 0 'a chosen exchange' inspect --exchange 3 "$dir/capture.pcap"
says 'Metadata 1 response'
head -c 150 "$dir/capture.pcap" >"$dir/early.pcap"
expect 2 'a capture that ends too early' inspect "$dir/early.pcap"
says 'packet 3, at byte 136, is cut off by the end of the file'
expect 2 'exchanges of what is no capture' inspect --exchange 1 fixtures/incidents/S03.json
says 'is no capture of a network'

# What cannot be read.
expect 2 'no file' inspect "$dir/nothing"
expect 2 'a folder that is of no failure' inspect "$dir"
says 'is a folder without result.json: that of a failure is expected$'
"$build/conformance" replay "$dir" -b 127.0.0.1:1 >"$dir/log" 2>&1
says 'is a folder without result.json: that of a failure is expected$'
for option in --stored --produced --request '--response Fetch:12'; do
	# shellcheck disable=SC2086
	expect 2 "a capture as $option" inspect $option "$dir/capture.pcap"
	says 'is a capture of a network: --request, --response, --stored and --produced are for others$'
done

# Names that a terminal would obey, or that are no UTF-8.
name=$dir/$'a\033[31m\nb\302\233\377'
cp "$dir/request.hex" "$name"
expect 0 'a name with control characters' inspect "$name"
says 'a\?\[31m\?b\?'
if LC_ALL=C grep -q $'[\033\233]' "$dir/log"; then bad 'control characters'; else ok 'no control characters'; fi
expect 2 'and no file' inspect "$name.no"
says '/a\?\[31m\?b\?'
says ': cannot be opened: No such file'
"$build/conformance" inspect --json "$name" "$name.no" >"$dir/json" 2>/dev/null
if [ "$(jq -s -a -c 'map([(.name | split("/")[-1][-6:]), .fields[-1].name])' "$dir/json")" = \
	'[["1m\nb\u009b\ufffd","frame"],["b\u009b\ufffd.no","error"]]' ]; then
	ok 'a document for each'
else
	cp "$dir/json" "$dir/log"
	bad 'no document for each'
fi

# Contents that it would obey, and long ones.
jq -n '{batches: [{records: [{key: "a\u007f\u009b\u202eb", value: ("x" * 5000)}]}]}' >"$dir/contents.json"
expect 0 'a key with control characters' inspect "$dir/contents.json"
says '"a\\u007f\\u009b\\u202eb"$'
says '"x{72}"\.\.\. \(5000 bytes\)$'
"$build/conformance" inspect --json "$dir/contents.json" >"$dir/log"
says '"a\\u007f\\u009b\\u202eb"'
says '"value":"x{72}","text":"."x{72}."\.\.\. \(5000 bytes\)"'
"$build/conformance" inspect --json --full "$dir/contents.json" >"$dir/log"
if [ "$(jq -r '.. | objects | select(.name == "value").value | length' "$dir/log")" = 5000 ]; then
	ok 'whole'
else
	bad 'not whole'
fi

# A count that is not so.
printf '\x7f\xff\xff\xff' | dd of="$dir/batch" bs=1 seek=57 conv=notrunc status=none
expect 1 'a count of many' inspect --brief "$dir/batch"
says '1 batch, 5 records, '
# Hex of more than a buffer may have had before: zeros, which are no request.
yes '00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00' | head -n 1450000 >"$dir/large.hex"
expect 1 'large hex' inspect --stored --brief "$dir/large.hex"
says 'record batches, as hex$'
rm "$dir/large.hex"
expect 2 'no file that it knows' inspect Makefile
says 'neither batches nor a request'
expect 2 'a document without bytes' inspect conformance/requirements/frames.json
says 'neither batches nor frames'
expect 2 'a response to what' inspect --response Produce "$dir/response"
says 'must be API:VERSION'
head -c 5000000 /dev/zero >"$dir/zeros"
"$build/conformance" inspect --json --response Fetch:99 "$dir/response" >"$dir/json" 2>"$dir/log"
if [ $? = 2 ] && [ ! -s "$dir/json" ]; then ok 'no document of what is not read'
else bad 'a document of what is not read'; fi
"$build/conformance" inspect --json "$dir/zeros" >"$dir/json" 2>"$dir/log"
if jq -e '.fields[-1].name == "error"' "$dir/json" >/dev/null; then
	ok 'a document says why it ends'
else
	bad 'a document looks whole'
fi
expect 2 'zeros are no request' inspect "$dir/zeros"
expect 2 'two kinds at once' inspect --request --stored "$dir/response"
: >"$dir/empty"
expect 2 'an empty file' inspect "$dir/empty"
: >"$dir/00000000000000000009.log"
expect 0 'an empty segment' inspect "$dir/00000000000000000009.log"

finish
