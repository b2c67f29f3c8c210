import { open } from '../../sealing/open.js';
import type { Session } from './session.js';
import { request } from './session.js';
import { writePrivateFile } from './settings-file.js';
import { defined } from './options.js';
import type { GetFlags } from './values.js';

/** Selects one value of a secret. */
interface Wanted {
  readonly id?: string | undefined;
  readonly version?: number | undefined;
}

/** `get`: prints the value, or writes it to a file. */
export async function getValue(session: Session, slug: string, flags: GetFlags): Promise<void> {
  const { id, atVersion: version, sealed, output } = flags;
  // Checked first, as every read is recorded in the audit log.
  const identity = sealed ? undefined : await session.readIdentity();
  const stored = await readSealed(session, slug, { id, version });
  const value = identity === undefined ? stored : await open(stored, identity);
  if (output === undefined) await write(session.terminal.out, value);
  else await writePrivateFile(output, value);
}

/** Returns the sealed bytes. */
export async function readSealed(
  { client }: Pick<Session, 'client'>,
  slug: string,
  wanted: Wanted,
): Promise<Uint8Array> {
  const { version, ...query } = defined({ ...wanted });
  const parseAs = 'arrayBuffer';
  const answer =
    version === undefined
      ? client.GET('/objects/{slug}', { params: { path: { slug }, query }, parseAs })
      : client.GET('/objects/{slug}/versions/{version}', { params: { path: { slug, version }, query }, parseAs });
  // An empty body is never parsed; an age file is never empty.
  return new Uint8Array((await request<ArrayBuffer | undefined>(answer)) ?? new ArrayBuffer(0));
}

/** Waits until everything is written, as the process may end right after. */
export function write(out: NodeJS.WritableStream, content: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    out.write(content, (error) => (error ? reject(error) : resolve()));
  });
}
