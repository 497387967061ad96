"""The text form of Kafka's messages (docs/messages.md): version ranges, fields, messages, reading and writing them."""
import re
from dataclasses import dataclass, field

OPEN = 1 << 15		# upper end of a range "N+"; Kafka's versions are int16


class Problem(Exception):
	"""A reason to stop, for the user."""


# ---- Version ranges: (low, high) or None -----------------------------------------------------------------------------

def parse_range(text):
	match = re.fullmatch(r"(\d+)(?:(\+)|-(\d+))?", text)
	if not match:
		if text == "none":
			return None
		raise Problem(f"bad version range '{text}'")
	low = int(match[1])
	return low, OPEN if match[2] else int(match[3] or low)


def range_text(versions):
	if not versions:
		return "none"
	low, high = versions
	return f"{low}+" if high == OPEN else f"{low}" if low == high else f"{low}-{high}"


def span(versions, within):
	"""The versions of a range, as a set, of those that are in the set `within`."""
	return {v for v in within if versions[0] <= v <= versions[1]} if versions else set()


def valid(message):
	return set(range(message.versions[0], message.versions[1] + 1)) if message and message.versions else set()


# ---- Messages --------------------------------------------------------------------------------------------------------

@dataclass
class Field:
	name: str
	type: str
	versions: tuple
	null: tuple = None
	tag: int = None
	tagged: tuple = None
	default: str = ""
	ignorable: bool = False
	key: bool = False
	compact: bool = True
	entity: str = ""
	alias: str = ""
	fields: list = field(default_factory=list)

	def line(self):
		words = [self.name, self.type, range_text(self.versions)]
		words += [f"null={range_text(self.null)}"] if self.null else []
		words += [f"tag={self.tag}:{range_text(self.tagged)}"] if self.tagged else []
		words += [f"default={self.default}"] if self.default else []
		words += [word for word, is_set in (("ignorable", self.ignorable), ("key", self.key)) if is_set]
		words += [] if self.compact else ["flexible=none"]
		words += [f"entity={self.entity}"] if self.entity else []
		return " ".join(words + ([f"alias={self.alias}"] if self.alias else []))


@dataclass
class Message:
	name: str
	kind: str = ""
	key: int = None
	versions: tuple = None
	flexible: tuple = None
	listeners: list = field(default_factory=list)
	alias: str = ""
	unstable: bool = False			# the newest version is behind unstable.api.versions.enable
	notes: list = field(default_factory=list)
	fields: list = field(default_factory=list)
	structs: list = field(default_factory=list)	# common structs, as fields whose type is their name

	def header(self):
		return ([f"message {self.name}"] + ([f"alias {self.alias}"] if self.alias else [])
			+ [f"kind {self.kind}"] + ([f"key {self.key}"] if self.key is not None else [])
			+ [f"versions {range_text(self.versions)}", f"flexible {range_text(self.flexible)}"]
			+ (["listeners " + " ".join(self.listeners)] if self.listeners else []))

	def text(self):
		blocks = [[f"# {note}" for note in self.notes] + self.header(), list(tree(self.fields))]
		blocks += [[f"struct {s.name} {range_text(s.versions)}", *tree(s.fields, 1)] for s in self.structs]
		return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def tree(fields, depth=0):
	for f in fields:
		yield "\t" * depth + f.line()
		yield from tree(f.fields, depth + 1)


def every(fields, path=""):
	"""All fields with their paths, nested ones after their parent."""
	for f in fields:
		yield path + f.name, f
		yield from every(f.fields, f"{path}{f.name}/")


# ---- Reading the text form -------------------------------------------------------------------------------------------

def text_field(line):
	if line.count(" ") < 2:
		raise Problem("a field line is: Name type versions [attributes]")
	name, kind, versions, *words = line.split(" ")
	f = Field(name, kind, parse_range(versions))
	for word in words:
		key, _, value = word.partition("=")
		if key == "tag":
			tag, _, tagged = value.partition(":")
			f.tag, f.tagged = int(tag), parse_range(tagged)
		elif key == "flexible":
			f.compact = False
		elif key in ("ignorable", "key"):
			setattr(f, key, True)
		elif key in ("null", "default", "entity", "alias"):
			setattr(f, key, parse_range(value) if key == "null" else value)
		else:
			raise Problem(f"unknown attribute '{word}'")
	return f


def read_header(message, word, rest):
	if word in ("message", "kind", "alias"):
		setattr(message, "name" if word == "message" else word, rest)
	elif word in ("versions", "flexible"):
		setattr(message, word, parse_range(rest))
	elif word in ("key", "listeners"):
		setattr(message, word, int(rest) if word == "key" else rest.split(" "))
	else:
		raise Problem(f"unknown header line '{word}'")


def read_text(path):
	message = Message(path.stem)
	parents = [message.fields]	# by depth: where a field line of that depth goes
	in_header = True		# to the first blank line
	for number, line in enumerate(path.read_text().splitlines(), 1):
		try:
			word, _, rest = line.partition(" ")
			if not line:
				in_header = False
			elif line.startswith("#"):
				message.notes.append(rest)
			elif in_header:
				read_header(message, word, rest)
			elif word == "struct" and rest.count(" ") == 1:
				name, versions = rest.split(" ")
				message.structs.append(Field(name, name, parse_range(versions)))
				parents = [None, message.structs[-1].fields]
			else:
				depth = len(line) - len(line.lstrip("\t"))
				if depth >= len(parents) or parents[depth] is None:
					raise Problem("wrong indentation")
				f = text_field(line[depth:])
				parents[depth].append(f)
				parents[depth + 1:] = [f.fields]
		except (Problem, ValueError) as e:
			raise Problem(f"{path}:{number}: {e}") from e
	return message
