import { randomUUID } from 'node:crypto';
import type { TestResponse, RecordedRequest } from './forge-server.js';

/** A webhook in the state of a test forge. */
export interface TestHook {
  readonly id: number;
  url: string;
  secret: string;
  events: string[];
  contentType: string;
  active: boolean;
}

/** A signed webhook delivery. */
export interface SignedDelivery {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** The metadata of a delivery. */
export interface DeliveryMetadata {
  readonly event?: string;
  readonly delivery?: string;
}

export interface ForgeEvent {
  /** The forge's name of the event. */
  readonly name: string;
  readonly payload: object;
  /** The id of the delivery. A redelivery has the same id. */
  readonly delivery?: string;
}

/** Delivers an event to every subscribed webhook. Returns the statuses of the responses. */
export async function deliverTo(
  hooks: readonly TestHook[],
  { name, payload, delivery = randomUUID() }: ForgeEvent,
  sign: (secret: string, payload: object, about: DeliveryMetadata) => SignedDelivery,
): Promise<number[]> {
  const asking = hooks.filter(({ active, events }) => active && events.includes(name));
  return Promise.all(
    asking.map(async ({ url, secret, contentType }) => {
      const { body, headers } = sign(secret, payload, { event: name, delivery });
      const type = contentType === 'json' ? 'application/json' : 'application/x-www-form-urlencoded';
      const sent = new Uint8Array(body);
      const response = await fetch(url, { method: 'POST', headers: { ...headers, 'Content-Type': type }, body: sent });
      return response.status;
    }),
  );
}

/** The fields in a request that creates or edits a webhook. */
export type HookChange = Partial<Omit<TestHook, 'id'>>;

export interface WebhookHandlers {
  /** The error response if the credential lacks the permission. */
  readonly refuse?: TestResponse;
  readonly hooks: TestHook[];
  readonly toNode: (hook: TestHook) => object;
  readonly page: (nodes: readonly object[]) => TestResponse;
  readonly readChange: (body: Record<string, unknown>) => HookChange;
  readonly edit: (hook: TestHook, change: HookChange) => void;
}

/** Responds to requests at or below `/hooks`. @param rest The path after `/hooks`. */
export function handleWebhookRequest(
  { method, body }: RecordedRequest,
  rest: string,
  dialect: WebhookHandlers,
): TestResponse {
  const { refuse, hooks, toNode, page, readChange, edit } = dialect;
  if (refuse) return refuse;
  const given = () => readChange(JSON.parse(body) as Record<string, unknown>);
  if (rest === '' && method === 'GET') return page(hooks.map(toNode));
  if (rest === '' && method === 'POST') {
    const id = Math.max(0, ...hooks.map((one) => one.id)) + 1;
    const hook = { id, url: '', secret: '', events: ['push'], contentType: 'form', active: false, ...given() };
    hooks.push(hook);
    return { status: 201, body: toNode(hook) };
  }
  const index = hooks.findIndex(({ id }) => `/${id}` === rest);
  const hook = hooks[index];
  if (hook === undefined) return { status: 404, body: { message: 'Not Found' } };
  if (method === 'DELETE') {
    hooks.splice(index, 1);
    return { status: 204, body: '' };
  }
  if (method === 'GET') return { body: toNode(hook) };
  edit(hook, given());
  return { body: toNode(hook) };
}
