#!/bin/bash
# conformance inspect as a user runs it: the trees of segments that Kafka 4.4.0 wrote, forms of files, exit codes.
# UPDATE=1 writes the expected trees anew.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build}
data=conformance/tests/data
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

ok() { passed=$((passed + 1)); echo "ok   $*"; }
bad() { failed=$((failed + 1)); echo "FAIL $*"; sed 's/^/     /' "$dir/log" | head -40; }
# expect CODE WHAT ARGUMENT...: inspect ends with this exit code; what it says is in $dir/log.
expect() {
	local code=$1 what=$2 got
	shift 2
	"$build/conformance" inspect "$@" >"$dir/log" 2>&1 </dev/null
	got=$?
	if [ "$got" = "$code" ]; then ok "$what"; else bad "$what: exit code $got, not $code"; fi
}
says() { if grep -qE -- "$1" "$dir/log"; then ok "it says $1"; else bad "it does not say $1"; fi; }
# The bytes that hex stands for.
unhex() { tr -d ' \n' | tr a-f A-F | basenc --base16 -d; }
# tree NAME: what was said is what is expected.
tree() {
	[ -z "${UPDATE:-}" ] || cp "$dir/log" "$data/$1.txt"
	if cmp -s "$dir/log" "$data/$1.txt"; then ok "the tree is $1.txt"; else bad "the tree is not $1.txt"; fi
}

segments=("$data"/kafka-4.4.0-{none,gzip,snappy,lz4,zstd,txn}.hex)
expect 0 'what Kafka wrote' --stored "${segments[@]}"
tree inspect-segments
expect 0 'a line for each batch' --stored --brief "${segments[@]}"
tree inspect-brief
expect 1 'an incident' fixtures/incidents/S03.json
tree inspect-S03
for file in fixtures/incidents/*.json; do
	"$build/conformance" inspect --brief "$file" 2>&1 | tail -1
done >"$dir/log"
tree inspect-incidents

# The same bytes in other forms.
segment=$dir/00000000000000000000.log
unhex <"$data/kafka-4.4.0-none.hex" >"$segment"
touch "${segment%.log}.index" "${segment%.log}.timeindex"
expect 0 'a segment' "$segment"
says 'beside it +00000000000000000000\.(index|timeindex), '
says 'segment, |log segment$'
expect 0 'its index' "${segment%.log}.index"
says 'not looked into'
# A snapshot of the metadata log, whose batches begin at 0 wherever it ends.
snapshot=$dir/00000000000000000008-0000000001.checkpoint
unhex <"$data/kafka-4.4.0-snapshot.hex" >"$snapshot"
expect 0 'a snapshot' "$snapshot"
says 'SNAPSHOT_HEADER'
says '3 batches, 8 records, nothing wrong$'
cat >"$dir/xxd.txt" <<-'X'
	00000000: 0000 0019 0003 0001 0000 0007 0002 6d65  ..............me
	00000010: 0000 0002 0003 6162 6300 0264 65         ......abc..de
X
expect 0 'what xxd makes of a request' "$dir/xxd.txt"
says '"abc"'
cat >"$dir/hexdump.txt" <<-'X'
	00000000  00 00 00 19 00 03 00 01  00 00 00 07 00 02 6d 65  |..............me|
	00000010  00 00 00 02 00 03 61 62  63 00 02 64 65           |......abc..de|
	0000001d
X
expect 0 'what hexdump -C makes of it' "$dir/hexdump.txt"
says '"abc"'
cat >"$dir/1-send.request.hex" <<-'X'
	000000  00 00 00 19 00 03 00 01 00 00 00 07 00 02 6d 65  ..............me
	000010  00 00 00 02 00 03 61 62 63 00 02 64 65           ......abc..de
X
expect 0 'what lies in the folder of a failure' "$dir/1-send.request.hex"
says '"abc"'
"$build/conformance" inspect --stored - <"$segment" >"$dir/log" 2>&1 && says 'nothing wrong'
cp "$segment" "$dir/00000000000000000007.log"
expect 1 'a segment with a wrong name' "$dir/00000000000000000007.log"
says 'byte 0 of batch 0: baseOffset is 0, but offsets up to 6 are in front of it'

# Wrong bytes.
printf '\x07' | dd of="$segment" bs=1 seek=60 conv=notrunc 2>/dev/null
expect 1 'a wrong count' "$segment"
says 'first byte 57 of batch 0: count says 7, lastOffsetDelta says 4$'
says '\^\^\^\^\^'
truncate -s -1 "$segment"
expect 1 'a cut segment' "$segment"
says '520 bytes of a batch of 521, then all ends'
expect 1 'batches of a broker are none of a client' --produced "$data/kafka-4.4.0-txn.hex"
says 'INVALID_RECORD \(87\)'

# Frames.
echo '00000019 0003 0001 00000007 0002 6d65 00000002 0003 616263 0002 6465' >"$dir/request.hex"
expect 0 'a request' "$dir/request.hex"
says 'Metadata 1 request'
echo '00000010 00000007 0000 00000001 0012 0000 0004' | unhex >"$dir/response"
expect 0 'a response' --response ApiVersions:0 "$dir/response"
says 'errorCode +0  NONE'
says 'apiKey +18  ApiVersions'

# JSON.
"$build/conformance" inspect --json --stored "${segments[0]}" >"$dir/json"
if [ "$(jq -r '.fields[0].fields[] | select(.name == "count").value' "$dir/json")" = 5 ]; then ok 'JSON'; else bad 'JSON'; fi
"$build/conformance" inspect --json fixtures/incidents/S03.json >"$dir/json"
if [ "$(jq -c '[.. | objects | select(.fault) | .at, .errorCode]' "$dir/json")" = '[108,87]' ]; then
	ok 'the fault in JSON'
else
	bad 'the fault in JSON'
fi

# What cannot be read.
expect 2 'no file' "$dir/nothing"
expect 2 'no file that it knows' Makefile
says 'neither batches nor a request'
expect 2 'a document without bytes' conformance/requirements/frames.json
says 'neither batches nor frames'
expect 2 'a response to what' --response Produce "$dir/response"
says 'must be API:VERSION'
expect 2 'two kinds at once' --request --stored "$dir/response"
: >"$dir/empty"
expect 2 'an empty file' "$dir/empty"
: >"$dir/00000000000000000009.log"
expect 0 'an empty segment' "$dir/00000000000000000009.log"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
