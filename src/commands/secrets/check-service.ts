import { CommandFailure } from '../../start-error.js';
import type { SecretsClient } from '../../generated/secrets/client.js';
import { EXIT } from './exit-codes.js';
import { write } from './read-values.js';
import { request } from './session.js';
import type { Session } from './session.js';

/** @throws CommandFailure when there is no such service, or it does not take the token. */
export async function checkService({ client, server, terminal }: Session): Promise<void> {
  const health = client.GET('/healthz');
  const { version, environment } = await request(health);
  const where = environment === undefined ? server : `${server} (${environment})`;
  await write(terminal.out, `Service: ${where}, release ${version}\n`);
  const revision = (await health).response.headers.get('X-Trellis-Revision');
  if (revision !== client.revision) await write(terminal.out, 'Contract: of another revision than this client knows\n');
  const { data, response } = await client.GET('/auth/identity');
  if (data) await write(terminal.out, `Token: may write. Owner's key: ${data.public_key ?? 'none yet'}\n`);
  else if (response.status === 401 && (await mayRead(client))) await write(terminal.out, 'Token: reads values\n');
  else throw new CommandFailure('the service does not take the token', EXIT.refused);
}

/** A consumer's token is let in to read, and told that there is nothing; one that does not hold is not let in. */
async function mayRead(client: SecretsClient): Promise<boolean> {
  const { response } = await client.GET('/objects/{slug}', { params: { path: { slug: '0' } }, parseAs: 'arrayBuffer' });
  return response.status !== 401;
}
