import { open } from '../../sealing/seal.js';
import type { CommandContext } from './context.js';
import { unwrapResult } from './context.js';
import { writePrivateFile } from './settings-file.js';
import { omitUndefined } from './options.js';
import type { GetOptions } from './value-commands.js';

/** Selects one value of a secret. */
interface Wanted {
  readonly id?: string | undefined;
  readonly version?: number | undefined;
}

/** `get`: prints the value, or writes it to a file. */
export async function printValue(session: CommandContext, slug: string, flags: GetOptions): Promise<void> {
  const { id, atVersion: version, sealed, output } = flags;
  // Checked first, as every read is recorded in the audit log.
  const identity = sealed ? undefined : await session.readIdentity();
  const stored = await fetchSealedValue(session, slug, { id, version });
  const value = identity === undefined ? stored : await open(stored, identity);
  if (output === undefined) await writeOutput(session.terminal.out, value);
  else await writePrivateFile(output, value);
}

/** Returns the sealed bytes. */
export async function fetchSealedValue(
  { client }: Pick<CommandContext, 'client'>,
  slug: string,
  wanted: Wanted,
): Promise<Uint8Array> {
  const { version, ...query } = omitUndefined({ ...wanted });
  const parseAs = 'arrayBuffer';
  const answer =
    version === undefined
      ? client.GET('/objects/{slug}', { params: { path: { slug }, query }, parseAs })
      : client.GET('/objects/{slug}/versions/{version}', { params: { path: { slug, version }, query }, parseAs });
  // An empty body is never parsed; an age file is never empty.
  return new Uint8Array((await unwrapResult<ArrayBuffer | undefined>(answer)) ?? new ArrayBuffer(0));
}

/** Waits until everything is written, as the process may end right after. */
export function writeOutput(out: NodeJS.WritableStream, content: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    out.write(content, (error) => (error ? reject(error) : resolve()));
  });
}
