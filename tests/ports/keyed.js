// Section 11 of docs/signature-spec.md, from that page alone, in JavaScript. What that section
// leaves as it is comes from signature.js. `node keyed.js < cases`: a case is a secret key in
// hexadecimal digits and a case of signature.c, with a space between the two; the line that is
// printed is the fingerprint of the key and the line of signature.c.
"use strict";

const { UNITS, u64, numbersOf, answerAll } = require("./signature.js");

// BLAKE2b (RFC 7693), with the personalisation, which node:crypto lacks

const IV = [
  0x6A09E667F3BCC908n, 0xBB67AE8584CAA73Bn, 0x3C6EF372FE94F82Bn, 0xA54FF53A5F1D36F1n,
  0x510E527FADE682D1n, 0x9B05688C2B3E6C1Fn, 0x1F83D9ABFB41BD6Bn, 0x5BE0CD19137E2179n,
];
const SIGMA = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];
const COLUMNS_AND_DIAGONALS = [
  [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
  [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
];
const BLOCK = 128;

const rotate = (value, bits) => (value >> bits) | u64(value << (64n - bits));

function numbersIn(buffer) {
  return Array.from({ length: buffer.length / 8 }, (_, i) => buffer.readBigUInt64LE(8 * i));
}

function bytesOf(numbers) {
  const buffer = Buffer.alloc(8 * numbers.length);
  numbers.forEach((number, i) => buffer.writeBigUInt64LE(number, 8 * i));
  return buffer;
}

function padded(buffer, size) {
  return Buffer.concat([buffer, Buffer.alloc(size - buffer.length)]);
}

function compress(h, block, bytesSoFar, isLast) {
  const m = numbersIn(block);
  const v = [...h, ...IV];
  v[12] ^= BigInt(bytesSoFar);
  if (isLast) v[14] = u64(~v[14]);
  const half = ([a, b, c, d], summand, right, more) => {
    v[a] = u64(v[a] + v[b] + summand);
    v[d] = rotate(v[d] ^ v[a], right);
    v[c] = u64(v[c] + v[d]);
    v[b] = rotate(v[b] ^ v[c], more);
  };
  for (let round = 0; round < 12; round++) {
    const order = SIGMA[round % 10];
    COLUMNS_AND_DIAGONALS.forEach((four, i) => {
      half(four, m[order[2 * i]], 32n, 24n);
      half(four, m[order[2 * i + 1]], 16n, 63n);
    });
  }
  return h.map((value, i) => value ^ v[i] ^ v[i + 8]);
}

function blake2b(size, message, key, person) {
  const [sixth, seventh] = numbersIn(padded(Buffer.from(person, "ascii"), 16));
  let h = [...IV];
  h[0] ^= BigInt(0x01010000 + 256 * key.length + size);
  h[6] ^= sixth;
  h[7] ^= seventh;
  const data = key.length > 0 ? Buffer.concat([padded(key, BLOCK), message]) : message;
  const blocks = Math.max(1, Math.ceil(data.length / BLOCK));
  const all = padded(data, blocks * BLOCK);
  for (let i = 0; i < blocks; i++) {
    const isLast = i === blocks - 1;
    const bytesSoFar = isLast ? data.length : (i + 1) * BLOCK;
    h = compress(h, all.subarray(i * BLOCK, (i + 1) * BLOCK), bytesSoFar, isLast);
  }
  return bytesOf(h).subarray(0, size);
}

// What is drawn from the key

const EMPTY = Buffer.alloc(0);

function* stream(root, person, message) {
  for (let i = 0n; ; i++) {
    yield* numbersIn(blake2b(64, Buffer.concat([message, bytesOf([i])]), root, person));
  }
}

function take(count, numbers) {
  return Array.from({ length: count }, () => numbers.next().value);
}

// Polynomials over GF(2), of which bit i is the coefficient of x^i

const X = 2n;

const timesX = (h, modulus) => u64(h << 1n) ^ (h >> 63n ? modulus : 0n);

function square(h, modulus) {
  let product = 0n;
  for (let i = 63n; i >= 0n; i--) {
    product = timesX(product, modulus) ^ ((h >> i) & 1n ? h : 0n);
  }
  return product;
}

function greatestCommonDivisor(a, b) {
  const length = (h) => h.toString(2).length;
  while (b !== 0n) {
    while (a !== 0n && length(a) >= length(b)) a ^= b << BigInt(length(a) - length(b));
    [a, b] = [b, a];
  }
  return a;
}

// Rabin's test: 2 is the only prime that divides the degree 64.
function isIrreducible(modulus) {
  let power = X;
  for (let i = 0; i < 32; i++) power = square(power, modulus);
  if (greatestCommonDivisor((1n << 64n) ^ modulus, power ^ X) !== 1n) return false;
  for (let i = 0; i < 32; i++) power = square(power, modulus);
  return power === X;
}

// Hash functions

function functionsOf(secret) {
  if (secret.length < 16) throw new Error("a key has 16 bytes or more");
  const root = blake2b(64, secret, EMPTY, "fastlsh root");
  const candidates = stream(root, "fastlsh modulus", EMPTY);
  let modulus = candidates.next().value;
  while (!isIrreducible(modulus)) modulus = candidates.next().value;
  const [A, F, G] = take(3, stream(root, "fastlsh mixer", EMPTY)).map((n, i) => (i ? n | 1n : n));
  const summands = stream(root, "fastlsh summands", EMPTY);
  const L = take(256, summands);
  const K = [0n, ...take(255, summands)];
  const H = [0n, ...take(16, summands)];
  return {
    fingerprint: blake2b(16, EMPTY, root, "fastlsh public").toString("hex"),
    summand: (c) => L[c % 256] ^ K[(c >> 8) % 256] ^ H[c >> 16],
    combine(values) {
      let h = values.reduce((sum, value) => timesX(sum, modulus) ^ value, 0n);
      h = u64(h + BigInt(values.length) * UNITS + A);
      h = u64((h ^ (h >> 33n)) * F);
      h = u64((h ^ (h >> 33n)) * G);
      return h ^ (h >> 33n);
    },
    coefficients(count, seed) {
      const numbers = take(count, stream(root, "fastlsh permute", bytesOf([BigInt(seed)])));
      const a = numbers.map((n) => Number((n & 0xFFFFFFFFn) | 1n));
      return [a, numbers.map((n) => Number(n >> 32n))];
    },
  };
}

// Cases

const known = new Map();

answerAll((line) => {
  const [, secret, rest] = line.match(/^((?:[0-9a-f]{2})+) (.*)$/);
  if (!known.has(secret)) known.set(secret, functionsOf(Buffer.from(secret, "hex")));
  const functions = known.get(secret);
  return `${functions.fingerprint} ${numbersOf(rest, functions)}`;
});
