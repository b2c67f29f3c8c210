import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The version of the program, such as 1.1; `undefined` when it is not installed. */
const version = /\d+\.\d+/.exec(String(spawnSync('age', ['--version']).stdout))?.[0];

/** Returns a function that adds tests with the reference program `age`, or skips them with a warning without that version. */
const describeSince =
  (major: number, minor: number) =>
  (name: string, tests: () => void): void => {
    const [ownMajor = 0, ownMinor = 0] = (version ?? '').split('.').map(Number);
    if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) {
      describe(name, tests);
      return;
    }
    const needed = `the program age ${major}.${minor} (Debian package age)`;
    process.stderr.write(`\n*** SKIPPED: "${name}" needs ${needed}. ***\n\n`);
    describe.skip(name, tests);
  };

export const describeWithAge = describeSince(1, 0);

/** The first version with post-quantum keys. */
export const describeWithAge13 = describeSince(1, 3);

/** Runs `age` with bytes on standard input, and returns its output. */
export async function runAge(args: readonly string[], input: Uint8Array): Promise<Buffer> {
  const child = spawn('age', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`age exited with code ${code}.`);
  return Buffer.concat(chunks);
}

/** Runs `age` with a passphrase. It reads passphrases only from a terminal, which `script` provides. */
export async function runAgeWithPassphrase(
  args: readonly string[],
  { folder, passphrase, input }: { readonly folder: string; readonly passphrase: string; readonly input: Uint8Array },
): Promise<Buffer> {
  const [from, to] = [join(folder, 'age-input'), join(folder, 'age-output')];
  await rm(to, { force: true });
  await writeFile(from, input);
  const command = `age ${[...args, '-o', to, from].join(' ')}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'ignore', 'inherit'] });
  // When it encrypts, age asks for the passphrase twice.
  child.stdin.end(`${passphrase}\n${passphrase}\n`);
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`age exited with code ${code}.`);
  return readFile(to);
}

/**
 * Generates a key pair with `age-keygen`. The identity contains its comments.
 *
 * @param options `-pq` for a post-quantum key.
 */
export function generateKeys(...options: readonly string[]): { readonly identity: string; readonly recipient: string } {
  const { stdout } = spawnSync('age-keygen', options, { encoding: 'utf8' });
  const [, recipient = ''] = /public key: (age1\w+)/.exec(stdout) ?? [];
  return { identity: stdout, recipient };
}
