import { didYouMean } from '../../documents.js';
import { handlersName, inputName, outputName, pascal, toGroupName } from '../../output.js';
import { EVENT_STREAM } from '../contract.js';
import { findJsonType, isUtf8, parseMediaType } from '../forms.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  follow,
  has,
  items,
  type ReportDiagnostic,
} from '../nodes.js';
import type { IndexedOperation, OperationIndex } from './document.js';
import { checkBodyContent, hasFiles } from './inputs.js';

/** Checks the parts of operations that the router and the generator rely on: ids, tags, security, bodies, responses. */
export function checkOperations(survey: OperationIndex, service: string, report: ReportDiagnostic): void {
  checkNames(survey, service, report);
  checkSecuritySchemes(survey.sources, report);
  for (const operation of survey.operations) {
    checkRequirements(survey, securityOf(survey.root, operation.place), report);
    checkBody(survey, operation, report);
    checkResponses(survey, operation, report);
  }
  checkErrorCodes(survey, report);
}

/** Ids and tags determine the names of generated types and files, which must be unique. */
function checkNames({ root, operations }: OperationIndex, service: string, report: ReportDiagnostic): void {
  const tags = items(child(root, 'tags'));
  const known = new Map<string, string>();
  // The only tag may be named like the service: its handlers are those of the service.
  if (tags.length !== 1) known.set(handlersName(service), `the service "${service}"`);
  const claim = (place: DocumentNode, owner: string, names: readonly string[]): void => {
    const taken = names.find((name) => known.has(name));
    if (taken !== undefined)
      report(place, `The generated name ${taken} is not unique: ${owner} and ${known.get(taken) ?? ''} produce it.`);
    for (const name of names) known.set(name, owner);
  };
  const declared = new Set<string>();
  for (const tag of tags) {
    const name = findTextField(tag, 'name');
    if (name !== undefined && declared.has(name)) {
      report.warn(child(tag, 'name'), `The tag "${name}" is declared twice.`);
      continue;
    }
    if (name !== undefined) declared.add(name);
    if (name !== undefined && pascal(name) === '')
      report(
        child(tag, 'name'),
        `Expected the tag to have a letter or a digit, as types are named after it; received "${name}".`,
      );
    else if (name !== undefined)
      claim(child(tag, 'name'), `the tag "${name}"`, [handlersName(toGroupName(name, service, tags.length))]);
  }
  const ids = new Set<string>();
  for (const { place, method, path } of operations) {
    const id = findTextField(place, 'operationId');
    if (id === undefined) continue;
    const at = child(place, 'operationId');
    if (!/^[a-z][A-Za-z0-9]*$/.test(id))
      report(at, `Expected operationId to be a camelCase name such as listTokens; received "${id}".`);
    else if (ids.has(id)) report(at, `The operationId "${id}" of ${method} ${path} is already in use.`);
    else claim(at, `the operation "${id}"`, [inputName(pascal(id)), outputName(pascal(id))]);
    ids.add(id);
  }
}

/** The security of an operation replaces that of the contract. */
function securityOf(root: DocumentNode, operation: DocumentNode): DocumentNode {
  return child(has(operation, 'security') ? operation : root, 'security');
}

function checkBody({ sources, root }: OperationIndex, operation: IndexedOperation, report: ReportDiagnostic): void {
  const { place, method } = operation;
  if (!has(place, 'requestBody')) return;
  const mention = child(place, 'requestBody');
  if (method === 'delete') report.warn(mention, 'Some clients and proxies drop the body of a delete operation.', 'key');
  const body = follow(sources, mention);
  if (body === undefined) return;
  checkContent(body, report, { allowsRanges: true });
  checkBodyContent(sources, body, report);
  const isPublic = items(securityOf(root, place)).length === 0;
  if (hasFiles(sources, body) && !isPublic) checkNoIdempotencyKey(operation, 'files', report);
  if (!has(body, 'x-body')) return;
  if (child(body, 'required').value !== true) {
    report(body, 'x-body needs required: true, as only the handler reads the body.', 'key');
  }
  if (!isPublic) checkNoIdempotencyKey(operation, 'x-body', report);
}

/**
 * A repeated request can't be recognised without its body. Public operations ignore the key, so they may declare it.
 */
function checkNoIdempotencyKey({ parameters }: IndexedOperation, what: string, report: ReportDiagnostic): void {
  const key = parameters.find((one) => one.in === 'header' && one.name?.toLowerCase() === 'idempotency-key');
  if (key === undefined) return;
  report(
    key.mention,
    `Idempotency-Key cannot be combined with ${what}: repeats are recognised by their body, which is not read.`,
  );
}

/** A status, a range of statuses, or all that have no response of their own. */
const IS_STATUS = /^(?:[1-5]\d\d|[1-5]XX|default)$/;

function checkResponses(survey: OperationIndex, operation: IndexedOperation, report: ReportDiagnostic): void {
  const { sources } = survey;
  const { place } = operation;
  if (!has(place, 'responses')) return;
  const responses = entries(child(place, 'responses'));
  for (const [status, mention] of responses) {
    if (!IS_STATUS.test(status)) {
      const expected = 'Expected a status such as 200, a range such as 4XX, or default';
      report(mention, `${expected}; received "${status}".`, 'key');
    }
    const response = follow(sources, mention);
    if (response === undefined) continue;
    checkContent(response, report, { allowsRanges: true });
    checkHeaders(sources, response, report);
    if (status.startsWith('1'))
      report.warn(mention, `No handler can send the status ${status} alone, as another response has to follow.`, 'key');
  }
  if (!responses.some(([status]) => /^(?:[123]|default$)/.test(status))) {
    report.warn(child(place, 'responses'), 'The operation has no response below 400, and no default response.', 'key');
  }
  const declared = responses.map(([status]) => status);
  const isDeclared = (status: number): boolean =>
    [String(status), `${Math.trunc(status / 100)}XX`, 'default'].some((key) => declared.includes(key));
  const missing = listRouterStatuses(survey, operation).filter((status) => !isDeclared(status));
  if (missing.length === 0) return;
  const message = `The operation does not declare these statuses, which the router can send: ${missing.join(', ')}.`;
  report.warn(child(place, 'responses'), message, 'key');
}

/**
 * Lists the error statuses that the router can send for an operation: 400 for malformed URLs, headers, parameters and
 * bodies; 401 and 403 depending on `security`; 406 if a response has content; 413 and 415 if the request has a body;
 * 429 for rate limits; 500 for internal errors; 503 while the server starts or its database is unavailable.
 */
function listRouterStatuses({ sources, root }: OperationIndex, { place }: IndexedOperation): readonly number[] {
  const security = items(securityOf(root, place));
  const isSecured = security.some((requirement) => entries(requirement).length > 0);
  const isOptional = security.some((requirement) => entries(requirement).length === 0);
  const hasRepresentation = entries(child(place, 'responses')).some(([status, mention]) => {
    const response = status.startsWith('2') ? follow(sources, mention) : undefined;
    return response !== undefined && entries(child(response, 'content')).length > 0;
  });
  const hasBody = has(place, 'requestBody');
  return [
    400,
    ...(isSecured && !isOptional ? [401] : []),
    ...(isSecured ? [403] : []),
    ...(hasRepresentation ? [406] : []),
    ...(hasBody ? [413, 415] : []),
    // Failed credentials have a rate limit of their own.
    ...(isSecured || findTextField(place, 'x-rate-limit') !== 'none' ? [429] : []),
    500,
    503,
  ];
}

/** The codes that the router sends with these statuses. Others depend on the callers and the handlers. */
const ROUTER_CODES = new Map([
  [400, 'invalid_input'],
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [406, 'not_acceptable'],
  [413, 'too_large'],
  [415, 'unsupported_media_type'],
  [422, 'unprocessable'],
  [429, 'rate_limited'],
  [500, 'internal'],
  [503, 'unavailable'],
]);

/** Reports the codes of the router that the schema `Error` of its responses does not allow. */
function checkErrorCodes(survey: OperationIndex, report: ReportDiagnostic): void {
  const lacking = new Map<unknown, { readonly list: DocumentNode; readonly codes: Set<string> }>();
  for (const operation of survey.operations) {
    const responses = child(operation.place, 'responses');
    // Beside 400, only limits of the contract lead to 422.
    const ownStatuses = has(responses, '422') && !has(responses, '400') ? [422] : [];
    for (const status of [...listRouterStatuses(survey, operation), ...ownStatuses]) {
      const list = findErrorCodes(survey.sources, responses, status);
      const code = ROUTER_CODES.get(status) ?? '';
      if (list === undefined || items(list).some(({ value }) => value === code)) continue;
      const { codes } = lacking.get(list.value) ?? { codes: new Set() };
      lacking.set(list.value, { list, codes: codes.add(code) });
    }
  }
  for (const { list, codes } of lacking.values())
    report.warn(list, `The list lacks these codes, which the router can send: ${[...codes].join(', ')}.`, 'key');
}

/** Returns the list of codes in the schema `Error` that describes the responses with a status. */
function findErrorCodes(sources: ContractSources, responses: DocumentNode, status: number): DocumentNode | undefined {
  const key = [String(status), `${Math.trunc(status / 100)}XX`, 'default'].find((one) => has(responses, one));
  const response = key === undefined ? undefined : follow(sources, child(responses, key));
  const media = response && entries(child(response, 'content')).find(([type]) => findJsonType(type) !== undefined)?.[1];
  const schema = media && child(media, 'schema');
  if (schema === undefined || !(findTextField(schema, '$ref') ?? '').endsWith('/Error')) return undefined;
  const error = follow(sources, schema);
  const code = error && follow(sources, child(child(error, 'properties'), 'code'));
  return code !== undefined && has(code, 'enum') ? child(code, 'enum') : undefined;
}

/** Checks the names of headers (RFC 9110, 5.1), and that each of them is described once. */
function checkHeaders(sources: ContractSources, response: DocumentNode, report: ReportDiagnostic): void {
  for (const [name, mention] of entries(child(response, 'headers'))) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) report(mention, `"${name}" cannot be the name of a header.`, 'key');
    if (name.toLowerCase() === 'content-type')
      report.warn(mention, '"Content-Type" has no effect here: the media types of the response determine it.', 'key');
    const header = follow(sources, mention);
    if (header === undefined || has(header, 'schema') !== has(header, 'content')) continue;
    report(header, `Expected the header "${name}" to have either a schema or content.`, 'key');
  }
}

function checkContent(parent: DocumentNode, report: ReportDiagnostic, { allowsRanges = false } = {}): void {
  for (const [type, media] of entries(child(parent, 'content'))) {
    const parsed = parseMediaType(type);
    if (parsed === undefined || (parsed.isRange && !allowsRanges)) {
      report(media, `Expected a media type such as application/json; received "${type}".`, 'key');
    } else if (!isUtf8(parsed)) {
      report(media, `Expected no charset but utf-8 in the media type; received "${type}".`, 'key');
    } else if (findJsonType(type) !== undefined && !has(media, 'schema')) {
      report.warn(media, 'The media type has no schema, so any value is accepted.', 'key');
    } else if (type !== EVENT_STREAM && has(media, 'x-event')) {
      report(media, `x-event, the schema of the event data, is for ${EVENT_STREAM} only.`, 'key');
    } else if (type === EVENT_STREAM && !has(media, 'x-event')) {
      const message = 'The stream has no x-event, the schema of the event data, so events carry any JSON value.';
      report.warn(media, message, 'key');
    }
  }
}

/** The fields that each type of scheme needs. */
const REQUIRED = new Map([
  ['apiKey', ['name', 'in']],
  ['http', ['scheme']],
  ['oauth2', ['flows']],
  ['openIdConnect', ['openIdConnectUrl']],
]);

/** Checks the security schemes of all documents. */
function checkSecuritySchemes(sources: ContractSources, report: ReportDiagnostic): void {
  for (const root of sources.values()) {
    for (const [, scheme] of entries(child(child(root, 'components'), 'securitySchemes'))) {
      if (!has(scheme, '$ref')) checkScheme(scheme, report);
    }
  }
}

function checkScheme(scheme: DocumentNode, report: ReportDiagnostic): void {
  const type = findTextField(scheme, 'type') ?? '';
  if (type === 'mutualTLS') {
    report(child(scheme, 'type'), '"mutualTLS" is not supported: the server speaks HTTP behind a proxy that ends TLS.');
    return;
  }
  for (const field of (REQUIRED.get(type) ?? []).filter((name) => !has(scheme, name))) {
    report(scheme, `The required field ${field} is missing in this security scheme of type ${type}.`, 'key');
  }
  const http = findTextField(scheme, 'scheme');
  if (type === 'http' && http !== undefined && !/^[\w!#$%&'*+.^`|~-]+$/.test(http))
    report(child(scheme, 'scheme'), `"${http}" cannot be the name of an HTTP authentication scheme.`);
  else if (type === 'http' && http !== undefined && !['basic', 'bearer'].includes(http.toLowerCase()))
    report.warn(
      child(scheme, 'scheme'),
      `Only basic and bearer are known HTTP authentication schemes. The application has to read the credential of "${http}".`,
    );
  const caller = findTextField(scheme, 'x-caller');
  if (caller !== undefined && !/^[a-z][A-Za-z0-9_]*$/.test(caller)) {
    report(child(scheme, 'x-caller'), `Expected x-caller to be a name such as session; received "${caller}".`);
  }
}

/** Checks that the alternatives name schemes of the contract, and scopes that they declare. */
function checkRequirements(
  { sources, root }: { readonly sources: ContractSources; readonly root: DocumentNode },
  security: DocumentNode,
  report: ReportDiagnostic,
): void {
  const schemes = child(child(root, 'components'), 'securitySchemes');
  const names = entries(schemes).map(([name]) => name);
  for (const [name, roles] of items(security).flatMap(entries)) {
    if (!names.includes(name)) {
      const message = `Expected one of the contract's security schemes; received "${name}".`;
      report(roles, message + didYouMean(name, names), 'key');
      continue;
    }
    const scheme = follow(sources, child(schemes, name));
    const flows = scheme === undefined ? [] : entries(child(scheme, 'flows'));
    if (scheme === undefined || findTextField(scheme, 'type') !== 'oauth2') continue;
    const scopes = flows.flatMap(([, flow]) => entries(child(flow, 'scopes')).map(([scope]) => scope));
    for (const role of items(roles).filter(({ value }) => !scopes.includes(String(value)))) {
      const message = `Expected a scope of the flows of "${name}"; received "${String(role.value)}".`;
      // Nobody can have such a scope, so a typo refuses too much rather than too little.
      report.warn(role, message + didYouMean(String(role.value), scopes));
    }
  }
}
