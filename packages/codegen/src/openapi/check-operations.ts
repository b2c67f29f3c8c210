import { didYouMean } from '../documents.js';
import { handlersName, inputName, outputName, pascal } from '../output.js';
import type { IndexedOperation, OperationIndex } from './check-paths.js';
import { EVENT_STREAM } from './contract.js';
import {
  child,
  type DocumentNode,
  entries,
  findTextField,
  follow,
  has,
  items,
  type ReportDiagnostic,
} from './nodes.js';

/** Checks the parts of operations that the router and the generator rely on: ids, tags, security, bodies, responses. */
export function checkOperations(survey: OperationIndex, service: string, report: ReportDiagnostic): void {
  checkRoot(survey.root, report);
  checkNames(survey, service, report);
  for (const operation of survey.operations) {
    checkTag(survey.root, operation, report);
    checkSecurity(survey, operation, report);
    checkBody(survey, operation, report);
    checkResponses(survey, operation, report);
  }
}

function checkRoot(root: DocumentNode, report: ReportDiagnostic): void {
  const servers = items(child(root, 'servers'));
  const [server] = servers;
  if (!has(root, 'paths')) report(root, 'The contract has no paths.');
  if (server === undefined || servers.length > 1) {
    report(child(root, 'servers'), `Expected one server; received ${servers.length}.`, 'key');
  }
  const url = server && findTextField(server, 'url');
  if (server !== undefined && url !== undefined && !/^(?:\/|(?:\/[\w.-]+)+)$/.test(url)) {
    report(child(server, 'url'), `Expected the server url to be a path, such as / or /secrets; received "${url}".`);
  }
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
  for (const tag of tags) {
    const name = findTextField(tag, 'name');
    if (name !== undefined) claim(child(tag, 'name'), `the tag "${name}"`, [handlersName(name)]);
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

function checkTag(root: DocumentNode, { place }: IndexedOperation, report: ReportDiagnostic): void {
  const known = items(child(root, 'tags')).flatMap((tag) => findTextField(tag, 'name') ?? []);
  const tags = items(child(place, 'tags'));
  if (has(place, 'tags') && tags.length !== 1) {
    report(child(place, 'tags'), `Expected one tag, which determines the handler file; received ${tags.length}.`);
  }
  for (const tag of tags) {
    if (typeof tag.value !== 'string' || known.includes(tag.value)) continue;
    report(tag, `Expected one of the contract's tags; received "${tag.value}".${didYouMean(tag.value, known)}`);
  }
}

/** The security of an operation replaces that of the contract. */
function securityOf(root: DocumentNode, operation: DocumentNode): DocumentNode {
  return child(has(operation, 'security') ? operation : root, 'security');
}

function checkSecurity({ root }: OperationIndex, { place }: IndexedOperation, report: ReportDiagnostic): void {
  const security = securityOf(root, place);
  if (security.value === undefined) {
    report(place, 'The operation has no security. Use [] for a public operation.', 'key');
  }
  const schemes = entries(child(child(root, 'components'), 'securitySchemes')).map(([name]) => name);
  for (const requirement of items(security)) {
    const parts = entries(requirement);
    if (parts.length > 1) {
      report(requirement, `Expected one scheme in each alternative, or {} for none; received ${parts.length}.`);
    }
    for (const [scheme, part] of parts) {
      if (schemes.includes(scheme)) continue;
      const message = `Expected one of the contract's security schemes; received "${scheme}".`;
      report(part, message + didYouMean(scheme, schemes), 'key');
    }
  }
}

function checkBody({ sources, root }: OperationIndex, operation: IndexedOperation, report: ReportDiagnostic): void {
  const { place, method } = operation;
  if (!has(place, 'requestBody')) return;
  const mention = child(place, 'requestBody');
  if (method === 'get' || method === 'delete') {
    report(mention, `A ${method} operation cannot have a request body. Use query parameters, or post.`, 'key');
  }
  const body = follow(sources, mention);
  if (body === undefined) return;
  checkContent(body, report);
  if (!has(body, 'x-body')) return;
  if (child(body, 'required').value !== true) {
    report(body, 'x-body needs required: true, as only the handler reads the body.', 'key');
  }
  const isPublic = items(securityOf(root, place)).length === 0;
  if (!isPublic) checkNoIdempotencyKey(operation, report);
}

/**
 * A repeated request can't be recognised without its body. Public operations ignore the key, so they may declare it.
 */
function checkNoIdempotencyKey({ parameters }: IndexedOperation, report: ReportDiagnostic): void {
  const key = parameters.find((one) => one.in === 'header' && one.name?.toLowerCase() === 'idempotency-key');
  if (key === undefined) return;
  report(
    key.mention,
    'Idempotency-Key cannot be combined with x-body: repeats are recognised by their body, which is not read.',
  );
}

function checkResponses(survey: OperationIndex, operation: IndexedOperation, report: ReportDiagnostic): void {
  const { sources } = survey;
  const { place } = operation;
  if (!has(place, 'responses')) return;
  const responses = entries(child(place, 'responses'));
  for (const [status, mention] of responses) {
    const isStatus = /^[1-5]\d\d$/.test(status);
    if (!isStatus) report(mention, `Expected a single status such as 200; received "${status}".`, 'key');
    const response = follow(sources, mention);
    if (response === undefined) continue;
    checkContent(response, report);
    const isBare = status === '204' || status === '304';
    if (isBare && has(response, 'content'))
      report(response, `A response with the status ${status} has no body, so it cannot have content.`, 'key');
  }
  if (!responses.some(([status]) => status.startsWith('2'))) {
    report(child(place, 'responses'), 'The operation has no response from 200 to 299.', 'key');
  }
  const declared = responses.map(([status]) => status);
  const missing = listRouterStatuses(survey, operation).filter((status) => !declared.includes(String(status)));
  if (missing.length === 0) return;
  const message = `The operation does not declare these statuses, which the router can send: ${missing.join(', ')}.`;
  report(child(place, 'responses'), message, 'key');
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

function checkContent(parent: DocumentNode, report: ReportDiagnostic): void {
  for (const [type, media] of entries(child(parent, 'content'))) {
    if (!/^[a-z]+\/[a-z0-9][a-z0-9.+-]*$/.test(type)) {
      report(media, `Expected a media type such as application/json; received "${type}".`, 'key');
    } else if (type.endsWith('json') && !has(media, 'schema')) {
      report(media, 'The required field schema is missing in this media type.', 'key');
    } else if ((type === EVENT_STREAM) !== has(media, 'x-event')) {
      const message = `x-event, the schema of the event data, is required in ${EVENT_STREAM} and not allowed elsewhere.`;
      report(media, message, 'key');
    }
  }
}
