import fc from 'fast-check';
import { CLOSED_PORT } from '../../closed-port.js';
import { forgejoDelivery } from '../../forges/forgejo.js';
import { githubDelivery } from '../../forges/github.js';
import { gitlabDelivery } from '../../forges/gitlab.js';
import { ageValue } from '../../secrets/age-files.js';
import { createProblems, runAll, SEED } from '../runs.js';
import { createCheck } from './check.js';
import { ALL_CREDENTIALS, listAdmittedCredentials } from './credentials.js';
import { readFuzzedContract, type FuzzedOperation, type ServiceName } from './document.js';
import type { FuzzFixtures } from './fixtures.js';
import { generateRequests, type RequestPlan } from './requests.js';
import { listSeeds } from './seeds.js';
import { createSeenValues, SeenValue } from './seen-values.js';
import { toWire, type PlannedRequest } from './to-wire.js';
import { openWire, toCurl, type WireResponse } from './wire.js';

/** The number of requests generated at a time. */
const CHUNK = 50;

/** The number of requests after which forge settings are restored. */
const RESTORE_EVERY = 500;

/** The number of characters of a response in a report. */
const MAX_SHOWN = 500;

export interface FuzzResult {
  /** The count of each operation and status, such as `createToken 201`. */
  readonly seen: ReadonlyMap<string, number>;
  /** The responses that violate the contract; empty if all match. */
  readonly report: string;
  readonly requestsPerSecond: number;
}

export interface FuzzOptions {
  readonly service: ServiceName;
  /** The number of requests. */
  readonly count: number;
}

/** Sends generated requests to a service and checks every response against its contract. */
export async function fuzzContract(stage: FuzzFixtures, { service, count }: FuzzOptions): Promise<FuzzResult> {
  const contract = readFuzzedContract(service);
  const { origin } = stage.server;
  const values = createSeenValues();
  const check = createCheck(contract);
  const wire = openWire(origin);
  const problems = createProblems();
  const seen = new Map<string, number>();
  const session = { isLost: false };

  const exchange = async ({ request, operation }: PlannedRequest, credential: string): Promise<void> => {
    const id = operation?.id ?? 'elsewhere';
    let response: WireResponse;
    try {
      response = await wire.send(request);
    } catch (error) {
      problems.add(String(error), id, toCurl(origin, request));
      return;
    }
    const { status, text } = response;
    const key = `${id} ${status}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
    session.isLost ||=
      status === 401 && operation !== undefined && listAdmittedCredentials(service, operation).includes(credential);
    const problem = check({ method: request.method, operation, response });
    if (problem !== undefined) problems.add(problem, key, `${toCurl(origin, request)}\n  ${text.slice(0, MAX_SHOWN)}`);
    if (operation === undefined || status >= 300) return;
    values.learn(operation.tag, text);
    if (response.headers.etag !== undefined) values.add(operation.tag, 'if-none-match', response.headers.etag);
  };

  const toPlanned = (plan: RequestPlan): PlannedRequest =>
    toWire(plan, {
      contract,
      resolve: (value) => values.resolve(value),
      credentialHeaders: (name) => stage.credentialHeaders(name),
      sign: (operation, payload) => sign(stage, operation, payload),
      restrict: (operation, body) => restrictForges(stage, operation, body),
    });

  const restore = async (round: number): Promise<void> => {
    await stage.restore();
    values.add('Webhooks', 'webhookToken', stage.webhook().token);
    for (const seed of listSeeds(service, round)) {
      const operation = contract.operations.find(({ id }) => id === seed.operationId);
      if (operation === undefined) throw new Error(`The contract has no ${seed.operationId}.`);
      const headers = { ...stage.credentialHeaders(seed.credential), 'Content-Type': 'application/json' };
      const body = seed.body && Buffer.from(JSON.stringify(seed.body));
      const request = {
        method: operation.method.toUpperCase(),
        target: contract.basePath + seed.target,
        headers,
        body,
      };
      await exchange({ request, operation }, seed.credential);
    }
  };

  const plans = generateRequests({
    contract,
    hints: HINTS,
    bodies: BODIES,
    credentials: { all: ALL_CREDENTIALS, fitting: (operation) => listAdmittedCredentials(service, operation) },
  });
  for (const key of REUSED_KEYS) values.add('', 'idempotency-key', key);
  const startedAt = performance.now();
  for (let sent = 0; sent < count; sent += CHUNK) {
    if (sent % RESTORE_EVERY === 0) await restore(sent / RESTORE_EVERY);
    else if (session.isLost) await stage.renewCredentials();
    session.isLost = false;
    const chunk = fc.sample(plans, { numRuns: Math.min(CHUNK, count - sent), seed: SEED + sent });
    await runAll(chunk, (plan) => exchange(toPlanned(plan), plan.credential));
  }
  wire.close();
  const seconds = (performance.now() - startedAt) / 1_000;
  return { seen, report: problems.report(), requestsPerSecond: Math.round(count / seconds) };
}

/** Returns the names of pull requests and repositories on a board. */
const onBoard = (name: string, otherwise: object) =>
  fc.nat().map((pick) => new SeenValue({ tag: 'Board', name, pick, otherwise }));

/** Few keys, so that most requests repeat one, some of them with the same request. */
const REUSED_KEYS = ['key-1', 'key-2', 'key-3', 'key-4', 'key-5'];

const HINTS = {
  PullRequestReference: onBoard('pullRequestReference', { forge: 'github', fullName: 'acme/shop', number: 1 }),
  RepositoryReference: onBoard('repositoryReference', { forge: 'github', fullName: 'acme/shop' }),
  SealedValue: fc.oneof(
    fc.constantFrom(ageValue(), ageValue({ recipients: 3 })),
    fc.string().map((payload) => ageValue({ payload })),
  ),
};

/** Bodies whose content the schema of a JSON-RPC message does not specify. */
const BODIES = {
  callMcp: fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.oneof(fc.nat(), fc.string({ maxLength: 5 }), fc.constant(null)),
    method: fc.constantFrom('initialize', 'ping', 'tools/list', 'tools/call', 'notifications/initialized', 'nothing'),
    params: fc.oneof(
      fc.record({
        name: fc.constantFrom('list_objects', 'get_object', 'create_object', 'nothing'),
        arguments: fc.jsonValue({ maxDepth: 2 }),
      }),
      fc.jsonValue({ maxDepth: 2 }),
    ),
  }),
};

function sign(stage: FuzzFixtures, { id }: FuzzedOperation, payload: unknown) {
  const signers = { deliverForgejo: forgejoDelivery, deliverGithub: githubDelivery, deliverGitlab: gitlabDelivery };
  const signer = signers[id as keyof typeof signers];
  return signer(stage.webhook().secret, payload as object);
}

const URL_FIELDS = ['githubUrl', 'forgejoUrl', 'gitlabUrl'] as const;

/** Restricts forge settings to this machine. An absent GitHub URL would mean github.com. */
function restrictForges({ forgeUrls }: FuzzFixtures, { id }: FuzzedOperation, body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  if (id === 'testForge' && 'settings' in body) return { ...body, settings: toLoopback(forgeUrls, body.settings) };
  return id === 'saveSettings' || id === 'testForge' ? toLoopback(forgeUrls, body) : body;
}

function toLoopback(forgeUrls: readonly string[], settings: unknown): unknown {
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) return settings;
  const fields: Record<string, unknown> = { ...settings };
  for (const [index, name] of URL_FIELDS.entries()) {
    const value = fields[name];
    if (typeof value !== 'string' && value !== undefined && value !== null) continue;
    if (name !== 'githubUrl' && !value) continue;
    fields[name] = String(value).length % 2 === 0 ? forgeUrls[index] : CLOSED_PORT;
  }
  return fields;
}
