import { CommandFailure } from '../../start-error.js';
import type { SecretsClient } from '../../generated/secrets/client.js';
import { EXIT } from './exit-codes.js';
import { write } from './read-values.js';
import { request } from './session.js';
import type { Session } from './session.js';

/** @throws CommandFailure when the service is not found, or rejects the token. */
export async function checkService({ client, server, terminal }: Session): Promise<void> {
  const health = client.GET('/healthz');
  const { version, environment } = await request(health);
  const where = environment === undefined ? server : `${server} (${environment})`;
  await write(terminal.out, `Service: ${where}, release ${version}\n`);
  const revision = (await health).response.headers.get('X-Trellis-Revision');
  if (revision !== client.revision)
    await write(terminal.out, 'Contract: its revision differs from that of this client\n');
  const { data, response } = await client.GET('/auth/identity');
  if (data) await write(terminal.out, `Token: write token. Owner's key: ${data.public_key ?? 'none yet'}\n`);
  else if (response.status === 401 && (await mayRead(client))) await write(terminal.out, 'Token: consumer token\n');
  else throw new CommandFailure('The service rejected the token', EXIT.refused);
}

/** A valid consumer token gets 404 for an unknown name; an invalid token gets 401. */
async function mayRead(client: SecretsClient): Promise<boolean> {
  const { response } = await client.GET('/objects/{slug}', { params: { path: { slug: '0' } }, parseAs: 'arrayBuffer' });
  return response.status !== 401;
}
