import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from '../../../src/accounts/accounts.js';
import { tokensCommand } from '../../../src/commands/tokens.js';
import { generateIdentity, toRecipients } from '../../../src/sealing/secrets.js';
import { openDatabase } from '../../../src/storage/open-database.js';
import { type RunningServer, startServer } from '../../running-server.js';
import { runCommand } from '../run-command.js';
import { findNeedles, type Needle, toNeedles } from './needles.js';
import { canReadMemory, searchMemory } from './process-memory.js';
import { type CommandInput, runSecrets } from './secrets-cli.js';

const describeOnLinux = canReadMemory ? describe : describe.skip;
if (!canReadMemory) process.stderr.write('\n*** SKIPPED: server memory can be searched on Linux only. ***\n\n');

/** Long enough that it never occurs by chance in any encoding. */
const newMarker = (): string => `marker-${randomBytes(18).toString('hex')}`;

describeOnLinux('a server that stores sealed values', () => {
  const values = { first: newMarker(), second: newMarker(), imported: newMarker() };
  /** A value that looks sealed but is not, to show that the search finds plain text. */
  const careless = newMarker();
  let folder: string;
  let server: RunningServer;
  let run: (args: readonly string[], given?: CommandInput) => ReturnType<typeof runSecrets>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trellis-never-plain-'));
    const state = join(folder, 'state');
    // The server writes all files to this folder.
    const env = {
      TMPDIR: folder,
      LOG_LEVEL: 'trace',
      NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}`,
    };
    server = await startServer(['--services', 'secrets', '--state', state], env);
    const database = await openDatabase({ file: join(state, 'trellis.db') });
    await createAccounts(database, { origin: () => server.origin }).users.add({ username: 'ada', displayName: 'Ada' });
    await database.destroy();
    const identity = await generateIdentity();
    const [recipient = ''] = await toRecipients(identity);
    const mint = ['create', '--kind', 'write', '--label', 'cli', '--days', '1', '--state', state];
    const minted = await runCommand(tokensCommand, mint);
    const settings = {
      TRELLIS_SECRETS_SERVER: server.origin,
      TRELLIS_SECRETS_TOKEN: minted.out.trim(),
      TRELLIS_SECRETS_IDENTITY: identity,
    };
    run = async (args, given) => {
      const said = await runSecrets(args, { ...given, env: settings });
      if (said.code !== 0) throw new Error(said.err);
      return said;
    };
    await run(['consumers', 'add', 'acme/shop', '--key', recipient]);
    await work(recipient);
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  /** Runs every operation on values. */
  async function work(recipient: string): Promise<void> {
    await run(['put', 'db-password', '--consumer', 'acme/shop'], { stdin: values.first });
    expect((await run(['get', 'db-password'])).out).toBe(values.first);
    await run(['rotate', 'db-password'], { stdin: values.second });
    await run(['rotate', 'db-password', '--reseal']);
    expect((await run(['get', 'db-password', '--at-version', '1'])).out).toBe(values.first);
    await run(['import', '-', '--recipient', recipient], { stdin: JSON.stringify({ imported: values.imported }) });
    expect((await run(['export', '--open'])).out).toContain(values.imported);
    await run(['export']);
    // A share of zeros is rejected.
    const part = Buffer.alloc(32, 9).toString('base64').replace('=', '');
    const stanza = `-> X25519 ${part}\n${part}\n--- ${part}\n`;
    await run(['put', 'careless', '--sealed'], { stdin: `age-encryption.org/v1\n${stanza}${careless}` });
    await run(['get', 'careless', '--sealed']);
  }

  const hidden = (): Needle[] => Object.values(values).flatMap(toNeedles);

  test('has no plain value in memory in any encoding, while an unsealed one is found', async () => {
    const pid = server.process.pid!;
    const search = await searchMemory(pid, hidden());
    expect(search.found).toEqual([]);
    expect(search.bytesRead).toBeGreaterThan(50 * 2 ** 20);
    expect((await searchMemory(pid, toNeedles(careless))).found).toContain('UTF-8');
  });

  test('has no plain value in its heap, while the name of a consumer is found', async () => {
    server.process.kill('SIGUSR2');
    const snapshot = await readSnapshot();
    expect(findNeedles(snapshot, hidden())).toEqual([]);
    expect(findNeedles(snapshot, toNeedles('acme/shop'))).toContain('UTF-8');
  });

  /** Waits until the snapshot, which is written in parts, ends with a brace. */
  async function readSnapshot(): Promise<Buffer> {
    for (;;) {
      const [file] = (await readdir(folder)).filter((name) => name.endsWith('.heapsnapshot'));
      const content = file === undefined ? Buffer.alloc(0) : await readFile(join(folder, file));
      if (content.subarray(-10).toString().trimEnd().endsWith('}')) return content;
      await sleep(50);
    }
  }

  /** Returns the content of a file, or nothing if the server has deleted it since, as it does with the setup link. */
  const readIfPresent = (file: string): Promise<Buffer> =>
    readFile(file).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
      throw error;
    });

  test('has no plain value in its database, files and log, while an unsealed one is found', async () => {
    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    expect(files.some((file) => file.endsWith('trellis.db'))).toBe(true);
    const contents = [Buffer.from(server.output()), ...(await Promise.all(files.map(readIfPresent)))];
    const search = (needles: Needle[]) => contents.flatMap((content) => findNeedles(content, needles));
    expect(search(hidden())).toEqual([]);
    expect(search(toNeedles(careless))).toContain('UTF-8');
    expect(server.output()).toContain('createObject');
  });
});

test('findNeedles: finds each encoding of a text at every offset', () => {
  const needles = toNeedles('marker');
  const forms = (content: string) => findNeedles(Buffer.from(content), needles);
  expect(forms('a marker')).toEqual(['UTF-8']);
  expect(findNeedles(Buffer.from('a marker', 'utf16le'), needles)).toEqual(['UTF-16']);
  expect(forms(Buffer.from('a marker').toString('hex'))).toEqual(['hexadecimal']);
  expect(forms(Buffer.from('a marker').toString('hex').toUpperCase())).toEqual(['upper hexadecimal']);
  for (const [offset, before] of ['', 'a', 'ab'].entries()) {
    expect(forms(Buffer.from(`${before}marker!`).toString('base64'))).toEqual([`base64 at ${offset}`]);
  }
});
