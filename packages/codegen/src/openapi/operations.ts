import {
  camel,
  docstring,
  handlersName,
  inputName,
  kebab,
  outputName,
  pascal,
  printModules,
  type Stub,
  toKey,
  toStringLiteral,
} from '../output.js';
import {
  type BodyContract,
  type CallerKind,
  type Contract,
  ERROR_REF,
  type MediaContent,
  type Operation,
  type Parameter,
  type ResponseContract,
  type SchemaObject,
} from './contract.js';
import type { ValidatorNames } from './validators.js';

/** Writes `operations.ts`: the operation table and the types of its handlers. */
export function writeOperations(
  contract: Contract,
  names: ValidatorNames,
  modules: { readonly callers: string; readonly operation: string },
): string {
  const signatures = writeSignatures(contract);
  const shapes = ['components', 'operations as shapes'].filter((name) =>
    signatures.includes(`${name.split(' ').at(-1) ?? ''}[`),
  );
  const events = signatures.includes('ServerSentEvent<') ? ['type ServerSentEvent'] : [];
  return `${printModules('import', [
    [modules.callers, ...listCallers(contract).map((name) => `type ${name}`)],
    [modules.operation, 'type HandlerRequest', 'type OperationSpec', ...events],
    ['./types.js', ...shapes.map((name) => `type ${name}`)],
  ])}import * as validators from './validators.js';

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

const CALLERS: Readonly<Record<CallerKind, string>> = {
  consumer_token: 'ConsumerTokenCaller',
  session: 'SessionCaller',
  token: 'TokenCaller',
};

const PLACES = { params: 'path', query: 'query', headers: 'header' } as const;

/** Writes the input and output types of every operation, and an interface of handlers for each tag. */
function writeSignatures(contract: Contract): string {
  return [
    ...contract.operations.flatMap((operation) => [writeInput(contract, operation), writeOutput(operation)]),
    ...contract.tags.map((tag) => writeHandlers(tag)),
    ...(isTagOfService(contract) ? [] : [writeServiceHandlers(contract)]),
  ].join('\n');
}

/** Lists the caller types that the signatures use, in alphabetical order. */
function listCallers(contract: Contract): readonly string[] {
  return [...new Set(contract.operations.map((operation) => callerType(contract, operation)))]
    .flatMap((type) => type.split(' | '))
    .filter((name, index, names) => name !== 'undefined' && names.indexOf(name) === index)
    .sort();
}

function writeInput(contract: Contract, operation: Operation): string {
  const members = [
    ...(['params', 'query', 'headers'] as const).flatMap((part) => {
      const parameters = operation.parameters.filter((parameter) => parameter.in === PLACES[part]);
      return parameters.length === 0 ? [] : [`  readonly ${part}: {\n${parameters.map(writeParameter).join('')}  };\n`];
    }),
    ...(operation.body === undefined ? [] : [`  readonly body: ${bodyType(contract, operation)};\n`]),
    `  readonly caller: ${callerType(contract, operation)};\n`,
  ];
  const heading = `export interface ${inputName(operation.typeName)} extends RequestContext {\n`;
  return `/** The input of \`${operation.id}\`. */\n${heading}${members.join('')}}\n`;
}

function writeParameter(parameter: Parameter): string {
  const isPresent = parameter.required || parameter.hasDefault || parameter.in === 'path';
  const type = typeOfSchema(parameter.schema);
  return `${docstring(parameter.description, '    ')}    readonly ${toKey(parameter.name)}${isPresent ? '' : '?'}: ${type};\n`;
}

function bodyType({ schemas }: Contract, { id, body }: Operation): string {
  if (body?.isDeferred) return '() => Promise<Buffer>';
  const [contents, required] = [body?.contents ?? [], body?.required ?? false];
  const types = contents.map((content) => {
    const path = `NonNullable<shapes[${toStringLiteral(id)}]['requestBody']>['content'][${toStringLiteral(content.type)}]`;
    return withDefaults(typeOfContent(content, path), schemas, content);
  });
  return [...types, ...(required ? [] : ['undefined'])].join(' | ');
}

/** Makes properties with a default required, as defaults are filled in before a handler is called. */
function withDefaults(type: string, schemas: Contract['schemas'], { kind, schema }: MediaContent): string {
  const target = resolve(schemas, schema);
  if (kind !== 'json' || typeof target !== 'object') return type;
  const names = Object.entries(target.properties ?? {}).flatMap(([name, property]) => {
    const resolved = resolve(schemas, property);
    const isFilled = hasDefault(property) || hasDefault(resolved);
    return isFilled ? [toStringLiteral(name)] : [];
  });
  return names.length === 0 ? type : `${type} & Required<Pick<${type}, ${names.join(' | ')}>>`;
}

function hasDefault(schema: SchemaObject | undefined): boolean {
  return typeof schema === 'object' && schema.default !== undefined;
}

function resolve(schemas: Contract['schemas'], schema: SchemaObject | undefined): SchemaObject | undefined {
  if (typeof schema !== 'object' || schema.$ref === undefined) return schema;
  return resolve(schemas, schemas[schema.$ref.split('/').at(-1) ?? '']);
}

function callerType({ schemes }: Contract, { security, isOptional }: Operation): string {
  if (security.length === 0) return 'Caller | undefined';
  const kinds = security.map(({ scheme }) => schemes[scheme]).filter((kind) => kind !== undefined);
  const names = [...new Set(kinds)].map((kind) => CALLERS[kind]);
  return [...names, ...(isOptional ? ['undefined'] : [])].join(' | ');
}

function writeOutput(operation: Operation): string {
  const variants = operation.responses.filter(({ isError }) => !isError);
  const types = variants.map((response) => `  | {\n${writeVariant(operation, response)}    }`);
  const heading = `export type ${outputName(operation.typeName)} =`;
  return `/** The responses of \`${operation.id}\`. Errors are thrown. */\n${heading}\n${types.join('\n')};\n`;
}

function writeVariant({ id }: Operation, { status, headers, contents }: ResponseContract): string {
  const types = contents.map((content) =>
    typeOfContent(
      content,
      `shapes[${toStringLiteral(id)}]['responses'][${status}]['content'][${toStringLiteral(content.type)}]`,
    ),
  );
  const body = types.length === 0 ? 'readonly body?: undefined' : `readonly body: ${types.join(' | ')}`;
  return `      readonly status: ${status};\n      ${body};\n${writeHeaders(headers)}`;
}

function writeHeaders(headers: ResponseContract['headers']): string {
  if (headers.length === 0) return '';
  const members = headers.map(
    ({ name, required, description }) =>
      `${docstring(description, '        ')}        readonly ${toKey(name)}${required ? '' : '?'}: string;\n`,
  );
  const isPresent = headers.some(({ required }) => required);
  return `      readonly headers${isPresent ? '' : '?'}: {\n${members.join('')}      };\n`;
}

function writeHandlers({ name, description, operations }: Contract['tags'][number]): string {
  const members = operations.map(({ id, typeName, summary, isDeprecated }) => {
    const text = isDeprecated ? `${summary}\n@deprecated` : summary;
    return `${docstring(text, '  ')}  readonly ${id}: (input: ${inputName(typeName)}) => Promise<${outputName(typeName)}>;\n`;
  });
  return `${docstring(description)}export interface ${handlersName(name)} {\n${members.join('')}}\n`;
}

function writeServiceHandlers({ service, title, tags }: Contract): string {
  const parts = tags.map(({ name }) => handlersName(name)).join(', ');
  return `${docstring(`All handlers of ${title}.`)}export interface ${pascal(service)}Handlers extends ${parts} {}\n`;
}

function typeOfContent({ kind, schema }: MediaContent, inline: string): string {
  if (kind === 'bytes') return 'Uint8Array';
  if (kind === 'text') return 'string';
  if (kind === 'events') return `AsyncIterable<ServerSentEvent<${typeOfEvent(schema)}>>`;
  return typeof schema === 'object' && schema.$ref !== undefined ? typeOfReference(schema.$ref) : inline;
}

/** The schema of event data must be a named component: the generated types have no path to an inline schema. */
function typeOfEvent(schema: SchemaObject | undefined): string {
  return typeof schema === 'object' && schema.$ref !== undefined ? typeOfReference(schema.$ref) : 'unknown';
}

/** Returns the type of a parameter, whose schema is a scalar or a list of scalars. */
function typeOfSchema(schema: SchemaObject | undefined): string {
  if (typeof schema !== 'object') return 'unknown';
  if (schema.$ref !== undefined) return typeOfReference(schema.$ref);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  switch (schema.type) {
    case 'array':
      return `readonly (${typeOfSchema(schema.items)})[]`;
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
    case 'string':
      return schema.type;
    default:
      return 'unknown';
  }
}

function literal(value: unknown): string {
  return typeof value === 'string' ? toStringLiteral(value) : JSON.stringify(value);
}

function typeOfReference(ref: string): string {
  return `components['schemas'][${toStringLiteral(ref.slice(ERROR_REF.lastIndexOf('/') + 1))}]`;
}

/** Whether the only tag is named like the service, so that its handlers are those of the service. */
const isTagOfService = ({ service, tags }: Contract): boolean =>
  tags.length === 1 && tags.every(({ name }) => handlersName(name) === handlersName(service));

/** Writes a stub for each tag, with one handler per operation that throws until it is implemented. */
export function createHandlerStubs(contract: Contract): readonly Stub[] {
  const { service, tags } = contract;
  const all = `src/handlers/${service}/handlers.ts`;
  return tags.map(({ name, operations }) => {
    const exportName = `${camel(name)}Handlers`;
    const type = handlersName(name);
    return {
      file: isTagOfService(contract) ? all : `src/handlers/${service}/${kebab(name)}.ts`,
      header: `import type { ${type} } from '../../generated/${service}/operations.js';\n\nexport const ${exportName} = (): ${type} => ({\n`,
      footer: '});\n',
      exportName,
      use: isTagOfService(contract)
        ? undefined
        : {
            file: all,
            lines: [`import { ${exportName} } from './${kebab(name)}.js';`, `...${exportName}(),`],
            create: writeHandlersFile(contract),
          },
      members: operations.map(({ id }) => ({
        name: id,
        text: `async ${id}() {\n  throw new Error('${id} is not implemented yet.');\n},`,
      })),
    };
  });
}

/** Writes the file that joins the handlers of all tags, for a service that does not have it yet. */
function writeHandlersFile({ service, title, tags }: Contract): string {
  const names = tags.map(({ name }) => [`${camel(name)}Handlers`, kebab(name)] as const);
  const imports = names.map(([handlers, file]) => `import { ${handlers} } from './${file}.js';\n`);
  return `import type { ${handlersName(service)} } from '../../generated/${service}/operations.js';
${imports.join('')}
${docstring(`All handlers of ${title}.`)}export const ${camel(service)}Handlers = (): ${handlersName(service)} => ({
${names.map(([handlers]) => `  ...${handlers}(),\n`).join('')}});
`;
}
