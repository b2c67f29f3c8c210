import type { FuzzedContract, FuzzedOperation } from './document.js';
import type { RequestPlan } from './requests.js';
import type { WireRequest } from './wire.js';

export interface PlannedRequest {
  readonly request: WireRequest;
  /** The operation that the request reaches; `undefined` if its target or method matches none. */
  readonly operation: FuzzedOperation | undefined;
}

export interface Signature {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ToWireOptions {
  readonly contract: FuzzedContract;
  /** Fills in values of earlier responses. */
  readonly resolve: (value: unknown) => unknown;
  readonly credentialHeaders: (name: string) => Readonly<Record<string, string>>;
  /** Signs a webhook delivery. */
  readonly sign: (operation: FuzzedOperation, payload: unknown) => Signature;
  /** Corrects values that must never be sent as generated. */
  readonly restrict: (operation: FuzzedOperation, body: unknown) => unknown;
}

export function toWire(plan: RequestPlan, options: ToWireOptions): PlannedRequest {
  const { contract, resolve, credentialHeaders } = options;
  const { operation, method, tail } = plan;
  const path = resolve(plan.path) as Readonly<Record<string, unknown>>;
  const filled = operation.path.replace(/\{(.+?)\}/g, (_, name: string) => encodePath(operation, name, path[name]));
  const query = [
    ...plan.query.map(([name, value]) => `${encode(name)}=${encode(resolve(value))}`),
    ...(tail.query === '' ? [] : [tail.query]),
  ].join('&');
  const target = `${contract.basePath}${filled}${tail.path}${query === '' ? '' : `?${query}`}`;
  const body = toBody(plan, options);
  const headers = {
    ...credentialHeaders(plan.credential),
    ...(body?.type === undefined ? {} : { 'Content-Type': body.type }),
    ...body?.headers,
    ...(resolve(plan.headers) as Record<string, unknown>),
  };
  const isAltered = tail.path !== '' || Object.values(path).some((value) => toText(value) === '');
  return {
    operation: isAltered ? undefined : contract.find(method, operation.path),
    request: {
      method,
      target,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, toHeader(value)])),
      ...(body === undefined ? {} : { body: body.bytes, isChunked: plan.isChunked }),
    },
  };
}

interface Body {
  readonly bytes: Buffer;
  readonly type: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

function toBody({ body, operation }: RequestPlan, { resolve, sign, restrict }: ToWireOptions): Body | undefined {
  if (body === undefined) return undefined;
  if (body.kind === 'raw') return body;
  const value = restrict(operation, resolve(body.value));
  if (body.kind === 'json') return { bytes: Buffer.from(toJson(value)), type: 'application/json' };
  const { body: bytes, headers } = sign(operation, value);
  return { bytes, headers, type: 'application/json' };
}

function encodePath({ parameters }: FuzzedOperation, name: string, value: unknown): string {
  const isRest = parameters.some((parameter) => parameter.name === name && parameter['x-rest'] === true);
  return isRest ? encode(value).replaceAll('%2F', '/') : encode(value);
}

function encode(value: unknown): string {
  try {
    return encodeURIComponent(toText(value));
  } catch {
    // Half of a surrogate pair, in the bytes that some encoders produce.
    return '%ed%a0%80';
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : toJson(value);
}

/** Returns an empty text for values that JSON can't represent. */
function toJson(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  return text ?? '';
}

function toHeader(value: unknown): string | string[] {
  return Array.isArray(value) ? value.map((one) => toHeaderText(one)) : toHeaderText(value);
}

/** Returns the bytes in UTF-8 without the control characters that Node's client rejects. */
function toHeaderText(value: unknown): string {
  const bytes = Buffer.from(toText(value)).toString('latin1');
  return bytes.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 8_000);
}
