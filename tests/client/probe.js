/** Exercises each feature of the packed client in the current runtime, and returns the results. */
import { ApiError, createDashboardClient, decodeError, readAll, readEvents } from 'trellis-client';
import { readBoards } from 'trellis-client/boards';
import { open, putSecret } from 'trellis-client/sealing';
import { createSecretsClient } from 'trellis-client/secrets';

const IDENTITY = 'AGE-SECRET-KEY-184AMFJUPYWLRXK40T2Z3V50T3DKFU62FC57Q7UKTVUZDULHP90DSK33QZS';

/** Seals a value to a consumer and the owner, and opens the sealed value of the response. */
async function probeSealing(secrets) {
  const secret = { slug: 'db-password', value: new TextEncoder().encode('pässwörd'), usedBy: ['acme/shop'] };
  const { slug, value, used_by, recipients } = await putSecret(secrets, { ...secret, keepReadableCopy: true });
  const sealed = Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
  const opened = new TextDecoder().decode(await open(sealed, IDENTITY));
  const failure = await putSecret(secrets, { ...secret, usedBy: ['acme/shop', 'web-1'] }).catch(
    ({ name, code, message }) => `${name} ${code}: ${message}`,
  );
  return { slug, used_by, recipients: recipients.length, opened, failure };
}

export async function probe(url) {
  const warnings = [];
  const notices = [];
  const options = {
    token: 'trl_option',
    retry: { baseDelayMs: 1, maxRetryAfterMs: 50 },
    timeoutMs: 300,
    onRetry: ({ reason }) => notices.push(/^status|^No complete/.exec(reason)?.input ?? 'network'),
    onWarning: (message) => warnings.push(message.replace(/\b[\da-f]{16}\b/, '<revision>')),
  };
  const client = createDashboardClient(`${url}/`, options);
  const secrets = createSecretsClient(`${url}/secrets`, options);
  /** Returns the reasons of the retries since the last call. */
  const takeRetries = () => notices.splice(0).join(', ');
  const failure = async (call) => {
    const { name, message } = await call.catch((error) => error);
    return `${name}: ${/^The (user|operation)|fetch|connect|network/i.test(message) ? '<platform message>' : message}`;
  };

  const limited = await client.GET('/api/version');
  const limitedTries = takeRetries();
  const unauthorized = await client.GET('/api/dashboard');
  const apiError = decodeError(unauthorized.response, unauthorized.error);
  const created = await client.POST('/api/tokens', { body: { label: 'é', expiresAt: '2030-01-01T00:00:00Z' } });
  const createdTries = takeRetries();
  const reset = await client.GET('/api/tokens');
  const resetTries = takeRetries();
  const slow = await failure(client.GET('/api/settings'));
  const slowTries = takeRetries();
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('enough')), 30);
  const waiting = createDashboardClient(url, { retry: { maxRetryAfterMs: 60_000 } });
  const aborted = await failure(waiting.GET('/api/sharing', { signal: controller.signal }));
  const objects = [];
  for await (const { slug } of readAll((query) => secrets.GET('/objects', { params: { query } }), { limit: 2 })) {
    objects.push(slug);
  }
  const events = [];
  for await (const event of readEvents((init) => client.GET('/api/dashboard/stream', init), { reconnectMs: 1 })) {
    if (events.push(event) === 2) break;
  }
  const boards = [];
  for await (const { data } of readBoards(client, {}, { reconnectMs: 1 })) {
    if (boards.push(data.pullRequests) === 2) break;
  }
  const fromEnvironment = await createDashboardClient(url).GET('/api/admin/users');
  return {
    version: limited.data.version,
    limitedTries,
    apiError: [apiError instanceof ApiError, apiError.statusCode, apiError.code, apiError.message, apiError.requestId],
    created: created.data,
    createdTries,
    reset: reset.data,
    resetTries,
    slow,
    slowTries,
    aborted,
    objects,
    events,
    boards,
    sealed: await probeSealing(secrets),
    authorization: fromEnvironment.data,
    warnings,
  };
}
