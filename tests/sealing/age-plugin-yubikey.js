#!/usr/bin/env node
/*
 * A plugin of age with the protocol of https://c2sp.org/age-plugin and the stanzas of age-plugin-yubikey. In place of a
 * hardware token, the file in FAKE_YUBIKEY has the private key of P-256 in hexadecimal.
 */
import { createCipheriv, createDecipheriv, createECDH, createHash, hkdfSync } from 'node:crypto';
import { readFileSync, readSync, writeSync } from 'node:fs';
import { bech32 } from '@scure/base';

const unpadded = (bytes) => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

let rest = '';

function readLine() {
  for (;;) {
    const end = rest.indexOf('\n');
    if (end !== -1) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      return line;
    }
    const chunk = Buffer.alloc(4096);
    const size = readSync(0, chunk);
    if (size === 0) process.exit(1);
    rest += chunk.toString('latin1', 0, size);
  }
}

/** Reads a stanza: its arguments, and its body in lines of 64 characters and a shorter one. */
function readStanza() {
  const [mark, ...args] = readLine().split(' ');
  if (mark !== '->') throw new Error('Expected a stanza.');
  let text = '';
  for (;;) {
    const line = readLine();
    text += line;
    if (line.length < 64) return { args, body: Buffer.from(text, 'base64') };
  }
}

/** Reads the stanzas of a phase, until "done". */
function readPhase() {
  const stanzas = [];
  for (;;) {
    const stanza = readStanza();
    if (stanza.args[0] === 'done') return stanzas;
    stanzas.push(stanza);
  }
}

function send(args, body = Buffer.alloc(0)) {
  writeSync(1, `-> ${args.join(' ')}\n${unpadded(body)}\n`);
  return args[0] === 'done' ? undefined : readStanza();
}

const toTag = (point) => createHash('sha256').update(point).digest().subarray(0, 4);

/** Wraps or unwraps a file key, as age-plugin-yubikey does. */
function crypt(create, { secret, ephemeral, point }, bytes) {
  const key = Buffer.from(hkdfSync('sha256', secret, Buffer.concat([ephemeral, point]), 'piv-p256', 32));
  const cipher = create('chacha20-poly1305', key, Buffer.alloc(12), { authTagLength: 16 });
  if (create === createDecipheriv) {
    cipher.setAuthTag(bytes.subarray(-16));
    return Buffer.concat([cipher.update(bytes.subarray(0, -16)), cipher.final()]);
  }
  return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

function wrap(phase) {
  const recipients = phase.filter(({ args }) => args[0] === 'add-recipient').map(({ args }) => args[1]);
  const fileKeys = phase.filter(({ args }) => args[0] === 'wrap-file-key').map(({ body }) => body);
  for (const [index, fileKey] of fileKeys.entries()) {
    for (const recipient of recipients) {
      const point = Buffer.from(bech32.decodeToBytes(recipient).bytes);
      const pair = createECDH('prime256v1');
      pair.generateKeys();
      const ephemeral = pair.getPublicKey(undefined, 'compressed');
      const body = crypt(createCipheriv, { secret: pair.computeSecret(point), ephemeral, point }, fileKey);
      send(['recipient-stanza', index, 'piv-p256', unpadded(toTag(point)), unpadded(ephemeral)], body);
    }
  }
  send(['done']);
}

function unwrap(phase) {
  send(['msg'], Buffer.from('Touch the token'));
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(readFileSync(process.env.FAKE_YUBIKEY, 'utf8'), 'hex');
  const point = pair.getPublicKey(undefined, 'compressed');
  for (const { args, body } of phase) {
    const [command, index, type, tag, share] = args;
    if (command !== 'recipient-stanza' || type !== 'piv-p256' || tag !== unpadded(toTag(point))) continue;
    const ephemeral = Buffer.from(share, 'base64');
    send(
      ['file-key', index],
      crypt(createDecipheriv, { secret: pair.computeSecret(ephemeral), ephemeral, point }, body),
    );
    break;
  }
  send(['done']);
}

const phase = process.argv.includes('--age-plugin=recipient-v1') ? wrap : unwrap;
phase(readPhase());
