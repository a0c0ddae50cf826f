// Sections 1 to 7, 9 (for ASCII) and 10 of docs/signature-spec.md, from that page alone, in
// JavaScript. `node signature.js < cases` reads and prints what signature.c does: see there.
"use strict";

const CHARACTER_BASE = 0x243F6A8885A308D5n;
const WORD_BASE = 0xB7E151628AED2A6Dn;
const UNITS = 0x6A09E667F3BCC909n;
const ONES = 0xFFFFFFFF;

// 64 bits are BigInt; 32 bits are numbers, and >>> 0 makes the result of an operator unsigned.
const u64 = (value) => BigInt.asUintN(64, value);

// 1. Mixers

function fmix32(h) {
  h = Math.imul(h ^ (h >>> 16), 0x85EBCA6B);
  h = Math.imul(h ^ (h >>> 13), 0xC2B2AE35);
  return (h ^ (h >>> 16)) >>> 0;
}

function fmix64(h) {
  h = u64((h ^ (h >> 33n)) * 0xFF51AFD7ED558CCDn);
  h = u64((h ^ (h >> 33n)) * 0xC4CEB9FE1A85EC53n);
  return h ^ (h >> 33n);
}

function mix(c) {
  let h = u64(BigInt(c + 1) * 0x9E3779B97F4A7C15n);
  h = u64((h ^ (h >> 32n)) * 0xD6E8FEB86659FD93n);
  return h ^ (h >> 32n);
}

// 2. Shingle hashes. A text is an array of code points.

const WHITE = new Set([
  0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E, 0x1F, 0x20, 0x85, 0xA0, 0x1680,
  0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A,
  0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
]);
const codesOf = (string) => Array.from(string, (c) => c.codePointAt(0));
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC = new Set(codesOf(`${LETTERS}0123456789_`));
const PUNCTUATION = codesOf("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");

function onlyAscii(text) {
  if (text.some((c) => c > 127)) throw new Error("beyond ASCII this needs the tables of Unicode");
}

function bytes(text) {
  return text.flatMap((c) => {
    const last = (shift) => 0x80 | ((c >> shift) & 63);
    if (c < 0x80) return [c];
    if (c < 0x800) return [0xC0 | (c >> 6), last(0)];
    if (c < 0x10000) return [0xE0 | (c >> 12), last(6), last(0)];
    return [0xF0 | (c >> 18), last(12), last(6), last(0)];
  });
}

function words(text, options) {
  const unicode = options.has("words=alphanumeric") || options.has("words=unicode");
  if (unicode) onlyAscii(text);
  const letters = unicode || options.has("words=ascii_alphanumeric");
  const separates = (c) => (letters ? !ALPHANUMERIC.has(c) : WHITE.has(c));
  if (text.length === 0) return [];
  const found = [[]];
  for (const c of text) {
    if (separates(c)) found.push([]);
    else found.at(-1).push(c);
  }
  return options.has("empty_words") ? found : found.filter((word) => word.length > 0);
}

function polynomial(values, base) {
  const sum = values.reduce((total, value) => u64(total * base + value), 0n);
  return fmix64(u64(sum + BigInt(values.length) * UNITS));
}

function shingleHashes(text, unit, size, options) {
  const ofWords = unit === "word";
  const run = (codes) => polynomial(codes.map(mix), CHARACTER_BASE);
  const numbers = unit === "byte" ? bytes(text) : text;
  const units = ofWords ? words(text, options).map(run) : numbers.map(mix);
  const count = units.length === 0 ? 0 : Math.max(units.length - size + 1, 1);
  const base = ofWords ? WORD_BASE : CHARACTER_BASE;
  return Array.from({ length: count }, (_, i) => polynomial(units.slice(i, i + size), base));
}

// 3. Element to hash input

const hashInput = (h) => fmix32(Number(h & 0xFFFFFFFFn) ^ fmix32(Number(h >> 32n)));

// 4. Signature, scheme affine32

function* mersenneTwister(seed) {
  const state = [seed];
  for (let i = 1; i < 624; i++) {
    const before = state[i - 1];
    state.push((Math.imul(1812433253, before ^ (before >>> 30)) + i) >>> 0);
  }
  for (;;) {
    for (let i = 0; i < 624; i++) {
      const y = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7FFFFFFF);
      state[i] = (state[(i + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 0x9908B0DF : 0)) >>> 0;
    }
    for (let y of state) {
      y ^= y >>> 11;
      y ^= (y << 7) & 0x9D2C5680;
      y ^= (y << 15) & 0xEFC60000;
      yield (y ^ (y >>> 18)) >>> 0;
    }
  }
}

function coefficients(count, seed) {
  const outputs = mersenneTwister(seed);
  const draw = (change) => Array.from({ length: count }, () => change(outputs.next().value));
  const a = draw((output) => 2 * (output & 0x7FFFFFFF) + 1);
  return [a, draw((output) => output)];
}

const affine = (a, x, b) => (Math.imul(a, x) + b) >>> 0;
const least = (values) => values.reduce((a, b) => Math.min(a, b), ONES);

function affine32(xs, numPerm, seed) {
  const [a, b] = coefficients(numPerm, seed);
  return a.map((factor, j) => least(xs.map((x) => affine(factor, x, b[j]))));
}

// 5. Signature, scheme fss

function fss(xs, numPerm, seed) {
  if (xs.length === 0) return Array(numPerm).fill(ONES);
  const [a, b] = coefficients(numPerm + 8, seed);
  const slots = Array(numPerm).fill(Infinity);
  for (const x of xs) {
    for (let r = 0; r < 8; r++) {
      const h = fmix32(affine(a[numPerm + r], x, b[numPerm + r]));
      const product = BigInt(h) * BigInt(numPerm);
      const within = Number(product & 0xFFFFFFFFn) >>> (r + 1);
      const slot = Number(product >> 32n);
      slots[slot] = Math.min(slots[slot], 2 ** 32 - 2 ** (32 - r) + within);
    }
  }
  const rest = (j) => 2 ** 32 - 2 ** 24 + (least(xs.map((x) => affine(a[j], x, b[j]))) >>> 8);
  return slots.map((value, j) => (value === Infinity ? rest(j) : value));
}

// 6. Band keys

const isEmpty = (signature) => signature.every((value) => value === ONES);

function bandKeys(signature, bands, rows) {
  return Array.from({ length: bands }, (_, t) => {
    if (isEmpty(signature)) return 0n;
    let h = u64(BigInt(t + 1) * 0x9E3779B97F4A7C15n);
    for (const value of signature.slice(t * rows, (t + 1) * rows)) {
      h = u64((h ^ BigInt(value)) * 0xD6E8FEB86659FD93n);
      h ^= h >> 32n;
    }
    return fmix64(h) || 1n;
  });
}

// 7. Decisions. A document is {text, set, signature, keys}; keep is first, last or longest.

function forThreshold(threshold, numPerm, recall) {
  for (let rows = numPerm; rows > 0; rows--) {
    for (let bands = 1; bands * rows <= numPerm; bands++) {
      if (1 - (1 - threshold ** rows) ** bands >= recall) return [bands, rows];
    }
  }
  throw new Error("no bands and rows have this recall");
}

function jaccard(one, other) {
  const both = one.set.filter((hash) => other.hashes.has(hash)).length;
  return both / (one.set.length + other.set.length - both);
}

const shared = (one, other) => one.filter((value, i) => value === other[i]).length;

function deduplicate(documents, threshold, keep, maxCandidates) {
  const order = documents.map((_, i) => i);
  if (keep === "last") order.reverse();
  if (keep === "longest") order.sort((a, b) => documents[b].text.length - documents[a].text.length);
  const [results, buckets, first] = [[], new Map(), new Map()];
  order.forEach((number, priority) => {
    const own = { number, priority, ...documents[number] };
    const [same, name] = [first.get(own.text.join()), (key, band) => `${band} ${key}`];
    results[number] = [number, 1];
    if (same !== undefined) results[number] = results[same];
    if (same !== undefined || isEmpty(own.signature)) return;
    first.set(own.text.join(), number);
    const found = new Map(); // and in how many buckets
    for (const kept of own.keys.flatMap((key, band) => buckets.get(name(key, band)) ?? [])) {
      found.set(kept, (found.get(kept) ?? 0) + 1);
    }
    const compared = [...found.keys()].sort((a, b) => found.get(b) - found.get(a)
      || shared(b.signature, own.signature) - shared(a.signature, own.signature)
      || a.priority - b.priority).slice(0, maxCandidates).sort((a, b) => a.priority - b.priority);
    const proof = compared.find((kept) => jaccard(own, kept) >= threshold);
    if (proof) {
      results[number] = [proof.number, jaccard(own, proof)];
      return;
    }
    own.keys.forEach((key, band) => {
      const bucket = buckets.get(name(key, band)) ?? [];
      if (bucket.length < 64) buckets.set(name(key, band), [...bucket, own]);
    });
  });
  return results;
}

// 9. Steps of normalisation

function steps(text, options, characters) {
  const space = options.has("punctuation=space") ? [0x20] : [];
  const marks = new Set(characters.length > 0 ? characters : PUNCTUATION);
  const punctuation = options.has("punctuation=space") || options.has("punctuation=remove");
  const unicode = /unicode_form|strip_accents|lowercase|numbers/.test([...options].join());
  if (unicode || (punctuation && characters.length === 0)) {
    onlyAscii(text); // which unicode_form and strip_accents leave as it is
  }
  let out = text;
  const replace = (pattern, by) => {
    out = codesOf(String.fromCodePoint(...out).replace(pattern, by));
  };
  if (options.has("lowercase")) replace(/[A-Z]/g, (c) => c.toLowerCase());
  if (options.has("numbers=0")) replace(/[0-9]+([.,][0-9]+)?/g, "0");
  if (punctuation) out = out.flatMap((c) => (marks.has(c) ? space : [c]));
  if (options.has("remove_whitespace")) out = out.filter((c) => !WHITE.has(c));
  if (options.has("collapse_whitespace")) {
    const parts = words(out, new Set());
    out = parts.flatMap((word, i) => (i === 0 ? word : [0x20, ...word]));
  }
  return out;
}

// 10. Packed signatures

function packed(signature, bits) {
  const size = Math.ceil((signature.length * bits) / 8);
  if (isEmpty(signature)) return Array(size).fill(0xFF);
  let sum = 0n;
  signature.forEach((value, j) => {
    sum += BigInt(fmix32(value) % 2 ** bits) << BigInt(bits * j);
  });
  return Array.from({ length: size }, (_, i) => Number((sum >> BigInt(8 * i)) & 0xFFn));
}

// Cases

function numbersOf(line) {
  const fields = line.split(" ");
  if (fields.length !== 11) throw new Error("a case is a line of 11 fields");
  const [scheme, unit, ...rest] = fields;
  const [size, numPerm, seed, bands, rows, bits] = rest.slice(0, 6).map(Number);
  const items = (field) => (field === "-" ? [] : field.split(","));
  const options = new Set(items(rest[6]));
  const elements = items(rest[8]).map((item) => BigInt(`0x${item}`));
  const own = items(rest[7]).map((item) => parseInt(item, 16));
  const codes = steps(elements.map(Number), options, own);
  const hashes = unit === "element" ? elements : shingleHashes(codes, unit, size, options);
  const sheets = rest[6].match(/ignore=[^,]*/g) ?? []; // ignore=61.62.63, a text each
  const ignored = new Set(sheets.map((sheet) => sheet.slice(7).split(".")).flatMap((sheet) =>
    shingleHashes(steps(sheet.map((c) => parseInt(c, 16)), options, own), unit, size, options)));
  const set = [...new Set(hashes)].filter((hash) => !ignored.has(hash)).sort((a, b) => (a < b ? -1 : 1));
  const signature = (scheme === "fss" ? fss : affine32)(set.map(hashInput), numPerm, seed);
  const hexadecimal = (list, digits) => list.map((n) => n.toString(16).padStart(digits, "0"));
  return [
    hexadecimal(unit === "element" ? elements : codes, 1),
    hexadecimal(set, 16),
    signature,
    hexadecimal(bandKeys(signature, bands, rows), 16),
    hexadecimal(packed(signature, bits), 2),
  ].map((list) => list.join(",") || "-").join(" ");
}

// deduplicate size num_perm threshold recall max_candidates keep text text ...
// (BANDSxROWS instead of the recall). Of each document: what keeps or removes it, the similarity.
function decisionsOf(line) {
  const [, size, numPerm, threshold, recall, maxCandidates, keep, ...texts] = line.split(" ");
  const [bands, rows] = recall.includes("x")
    ? recall.split("x").map(Number)
    : forThreshold(Number(threshold), Number(numPerm), Number(recall));
  const documents = texts.map((field) => {
    const text = field === "-" ? [] : field.split(",").map((item) => parseInt(item, 16));
    const hashes = new Set(shingleHashes(text, "char", Number(size), new Set()));
    const signature = affine32([...hashes].map(hashInput), Number(numPerm), 1);
    return { text, set: [...hashes], hashes, signature, keys: bandKeys(signature, bands, rows) };
  });
  return deduplicate(documents, Number(threshold), keep, Number(maxCandidates)).join(" ");
}

const lines = require("fs").readFileSync(0, "utf8").split(/\r?\n/).filter((line) => line !== "");
for (const line of lines) {
  console.log((line.startsWith("deduplicate ") ? decisionsOf : numbersOf)(line));
}
