import { createHash } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import * as vectors from 'cctv-age';
import { openStoredValue, openWithNode } from '../../../src/commands/secrets/age/open-value.js';
import { generateIdentity, seal, toRecipients } from '../../../src/sealing/secrets.js';

const terminal = { in: process.stdin, out: process.stdout, err: process.stderr, env: process.env };

const openStored = (sealed: Uint8Array, identity: string): Promise<Uint8Array> =>
  openStoredValue(sealed, identity, terminal);

interface Vector {
  readonly name: string;
  readonly expect: string;
  readonly payload: string | undefined;
  readonly identity: string;
  readonly passphrase: string | undefined;
  readonly file: Buffer;
}

/** Reads a vector of C2SP: lines of a name and a value, an empty line, and the file. */
function toVector([name, bytes]: [string, Uint8Array]): Vector {
  const text = Buffer.from(bytes).toString('latin1');
  const end = text.indexOf('\n\n');
  const lines = text.slice(0, end).split('\n');
  const valuesOf = (key: string): string[] =>
    lines.filter((line) => line.startsWith(`${key}: `)).map((line) => line.slice(key.length + 2));
  const file = Buffer.from(text.slice(end + 2), 'latin1');
  const [[expect = ''], [payload], [passphrase]] = [valuesOf('expect'), valuesOf('payload'), valuesOf('passphrase')];
  const isCompressed = valuesOf('compressed').length > 0;
  return {
    ...{ name, expect, payload, passphrase },
    identity: valuesOf('identity').join('\n'),
    file: isCompressed ? inflateSync(file) : file,
  };
}

const all = Object.entries(vectors as Readonly<Record<string, Uint8Array>>).map(toVector);
const withIdentity = all.filter(({ identity }) => identity !== '');
const digest = (value: Uint8Array): string => createHash('sha256').update(value).digest('hex');

describe('openWithNode', () => {
  test('opens no file of the age vectors that a reader must reject', () => {
    const rejected = withIdentity.filter(({ expect: wanted }) => wanted !== 'success');
    expect(rejected.length).toBeGreaterThan(60);
    expect(rejected.filter(({ file, identity }) => openWithNode(file, identity) !== undefined)).toEqual([]);
  });

  test('opens the vectors of X25519 to their values', () => {
    const opened = withIdentity.flatMap(({ name, payload, file, identity }) => {
      const value = openWithNode(file, identity);
      return value === undefined ? [] : [{ name, isRight: digest(value) === payload }];
    });
    expect(opened.filter(({ isRight }) => !isRight)).toEqual([]);
    const names = opened.map(({ name }) => name);
    for (const name of ['x25519', 'x25519_multiple_recipients', 'stream_empty_payload', 'stream_two_chunks']) {
      expect(names).toContain(name);
    }
  });

  test.each([0, 1, 65_535, 65_536, 65_537, 200_000])(
    'opens a value of %i bytes that the age library sealed',
    async (size) => {
      const identity = await generateIdentity();
      const value = Buffer.alloc(size, 'value');
      const sealed = await seal(value, await toRecipients(identity));
      expect(openWithNode(sealed, `# a comment\n${identity}\n`)?.equals(value)).toBe(true);
      for (const at of [0, 60, 130, sealed.length - 1]) {
        const changed = Buffer.from(sealed);
        changed[at] = (changed[at] ?? 0) ^ 1;
        expect(openWithNode(changed, identity)).toBeUndefined();
      }
      expect(openWithNode(sealed, await generateIdentity())).toBeUndefined();
    },
  );
});

test('openStoredValue opens every vector that a reader must open', async () => {
  const accepted = withIdentity.filter(({ expect: wanted }) => wanted === 'success');
  expect(accepted.length).toBeGreaterThan(20);
  for (const { file, identity, payload } of accepted) expect(digest(await openStored(file, identity))).toBe(payload);
});

test('openStoredValue reports the reason of a file that it cannot open', async () => {
  const identity = await generateIdentity();
  const sealed = await seal('value', await toRecipients(await generateIdentity()));
  await expect(openStored(sealed, identity)).rejects.toMatchObject({ code: 'no_match' });
  await expect(openStored(deflateSync(sealed), identity)).rejects.toMatchObject({ code: 'not_sealed' });
});
