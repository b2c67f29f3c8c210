import { CommandError } from '../../config/startup-error.js';
import type { SecretsClient } from '../../generated/secrets/client.js';
import { EXIT } from './exit-codes.js';
import { writeOutput } from './read-values.js';
import { unwrapResult } from './context.js';
import type { CommandContext } from './context.js';

/** @throws CommandFailure when the service is not found, or rejects the token. */
export async function checkService({ client, server, terminal }: CommandContext): Promise<void> {
  const health = client.GET('/healthz');
  const { version, environment } = await unwrapResult(health);
  const where = environment === undefined ? server : `${server} (${environment})`;
  await writeOutput(terminal.out, `Service: ${where}, release ${version}\n`);
  const revision = (await health).response.headers.get('X-Trellis-Revision');
  if (revision !== client.revision)
    await writeOutput(terminal.out, 'Contract: its revision differs from that of this client\n');
  const { data, response } = await client.GET('/auth/identity');
  if (data) await writeOutput(terminal.out, `Token: write token. Owner's key: ${data.public_key ?? 'none yet'}\n`);
  else if (response.status === 401 && (await mayRead(client)))
    await writeOutput(terminal.out, 'Token: consumer token\n');
  else throw new CommandError('The service rejected the token', EXIT.refused);
}

/** A valid consumer token gets 404 for an unknown name; an invalid token gets 401. */
async function mayRead(client: SecretsClient): Promise<boolean> {
  const { response } = await client.GET('/objects/{slug}', { params: { path: { slug: '0' } }, parseAs: 'arrayBuffer' });
  return response.status !== 401;
}
