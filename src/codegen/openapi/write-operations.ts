import type { BodyContract, Contract, Operation, ResponseContract } from './contract.js';
import { toStringLiteral } from './names.js';
import type { ValidatorNames } from './validator-names.js';
import { listCallers, writeSignatures } from './write-signatures.js';

/** Writes `operations.ts`: the operation table and the types of its handlers. */
export function writeOperations(contract: Contract, names: ValidatorNames): string {
  const signatures = writeSignatures(contract);
  const callers = listCallers(contract).join(', ');
  const types = ['components', 'operations as shapes']
    .filter((name) => signatures.includes(`${name.split(' ').at(-1) ?? ''}[`))
    .join(', ');
  const parts = ['HandlerRequest', 'OperationSpec', 'ServerSentEvent'].filter(
    (name) => name !== 'ServerSentEvent' || signatures.includes(`${name}<`),
  );
  return `${callers === '' ? '' : `import type { ${callers} } from '../../accounts/callers.js';\n`}import type { ${parts.join(', ')} } from '../../server/rest/operation.js';
${types === '' ? '' : `import type { ${types} } from './types.js';\n`}import * as validators from './validators.js';

/** The prefix of every path. */
export const basePath = ${toStringLiteral(contract.basePath)};

/** Identifies the content of the contract. Sent to clients, which compare it with their own. */
export const revision = ${toStringLiteral(contract.revision)};

/** The kind of caller that each security scheme authenticates. */
export const schemes = {
${Object.entries(contract.schemes)
  .map(([name, kind]) => `  ${name}: ${toStringLiteral(kind)},\n`)
  .join('')}} as const;

export const operations: readonly OperationSpec[] = [
${contract.operations.map((operation) => writeOperation(operation, names)).join('')}];

/** The members that the input of every handler has. */
type RequestContext = Pick<HandlerRequest, 'address' | 'requestId' | 'signal'>;

${signatures}`;
}

function writeOperation(operation: Operation, names: ValidatorNames): string {
  const { id, method, path, security, isOptional, rateLimit, reachesOut, parameters, body, responses } = operation;
  const validators = (['params', 'query', 'headers', 'limits', 'body'] as const).flatMap((part) => {
    const name = names.requests.get(`${id} ${part}`);
    return name === undefined ? [] : [`${part}: validators.${name}`];
  });
  return `  {
    id: ${toStringLiteral(id)},
    method: ${toStringLiteral(method)},
    path: ${toStringLiteral(path)},
    security: ${inlineList(security.map(({ scheme, roles }) => `{ scheme: ${toStringLiteral(scheme)}, roles: ${inlineList(roles.map(toStringLiteral))} }`))},
${isOptional ? '    isOptional: true,\n' : ''}${rateLimit === 'default' ? '' : `    rateLimit: ${toStringLiteral(rateLimit)},\n`}${reachesOut ? '    reachesOut: true,\n' : ''}    parameters: ${lines(
    parameters.map(
      (spec) =>
        `{ name: ${toStringLiteral(spec.name)}, in: ${toStringLiteral(spec.in)}, required: ${spec.required}, type: ${toStringLiteral(spec.type)}, list: ${spec.list}, rest: ${spec.rest} }`,
    ),
  )},
${body === undefined ? '' : `    body: ${writeBody(body)},\n`}    responses: {
${responses.map((response) => `      ${response.status}: ${writeResponse(operation, response, names)},\n`).join('')}    },
    validate: {${validators.length === 0 ? '' : ` ${validators.join(', ')} `}},
  },
`;
}

function writeBody({ required, contents, maxBytes, isDeferred }: BodyContract): string {
  const types = inlineList(contents.map(({ type }) => toStringLiteral(type)));
  const deferred = isDeferred ? ', isDeferred: true' : '';
  return `{ required: ${required}, contentTypes: ${types}, maxBytes: ${maxBytes}${deferred} }`;
}

function writeResponse({ id }: Operation, { status, contents }: ResponseContract, names: ValidatorNames): string {
  const name = names.responses.get(`${id} ${status}`);
  const types = inlineList(contents.map(({ type }) => toStringLiteral(type)));
  return `{ contentTypes: ${types}${name === undefined ? '' : `, validate: validators.${name}`} }`;
}

function inlineList(texts: readonly string[]): string {
  return `[${texts.join(', ')}]`;
}

function lines(texts: readonly string[]): string {
  return texts.length === 0 ? '[]' : `[\n${texts.map((text) => `      ${text},\n`).join('')}    ]`;
}
