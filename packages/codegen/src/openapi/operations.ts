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
  toIdentifier,
  toKey,
  toStringLiteral,
} from '../output.js';
import {
  type BodyContract,
  type Contract,
  ERROR_REF,
  type MediaContent,
  type Operation,
  type Parameter,
  resolveSchema,
  type ResponseContract,
  type SchemaObject,
  type SecurityScheme,
  type StatusKey,
  type TextFormat,
} from './contract.js';
import { hasAbsent } from './directions.js';
import type { FormContract, FormField, FormFile, TextValue } from './forms.js';
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
  const generics = ['CallerOf', 'MultipartBody', 'ServerSentEvent', 'StatusIn'];
  const helpers = generics.filter((name) => signatures.includes(`${name}<`));
  const callers = listCallers(contract).map((name) => `type ${name}`);
  return `${printModules('import', [
    ...(callers.length === 0 ? [] : [[modules.callers, ...callers] as const]),
    [
      modules.operation,
      ...(contract.operations.length === 0 ? [] : ['type HandlerRequest']),
      'type OperationSpec',
      ...helpers.map((name) => `type ${name}`),
    ],
    ['./types.js', ...shapes.map((name) => `type ${name}`)],
  ])}${names.schemas.length === 0 ? '' : "import * as validators from './validators.js';\n"}
/** The prefix of every path. */
export const basePath = ${toStringLiteral(contract.basePath)};

export { revision } from './revision.js';

/** The security schemes: the kind of their callers, and the place of their credentials. */
export const schemes = {
${Object.entries(contract.schemes)
  .map(([name, scheme]) => `  ${toKey(name)}: ${writeScheme(scheme)},\n`)
  .join('')}} as const;

export const operations: readonly OperationSpec[] = [
${contract.operations.map((operation) => writeOperation(contract, operation, names)).join('')}];

${signatures.includes(' RequestContext ') ? REQUEST_CONTEXT : ''}${signatures}`;
}

const REQUEST_CONTEXT = `/** The members that the input of every handler has. */
type RequestContext = Pick<HandlerRequest, 'address' | 'requestId' | 'signal'>;

`;

function writeOperation(contract: Contract, operation: Operation, names: ValidatorNames): string {
  const { id, method, path, security, isOptional, rateLimit, reachesOut, parameters, body, responses } = operation;
  const validators = (['params', 'query', 'headers', 'cookies', 'limits', 'body'] as const).flatMap((part) => {
    const name = names.requests.get(`${id} ${part}`);
    return name === undefined ? [] : [`${part}: validators.${name}`];
  });
  const bodies = (body?.contents ?? []).flatMap(({ essence }) => {
    const name = names.requests.get(`${id} body ${essence}`);
    return name === undefined ? [] : [`${toStringLiteral(essence)}: validators.${name}`];
  });
  if (bodies.length > 0) validators.push(`bodies: { ${bodies.join(', ')} }`);
  return `  {
    id: ${toStringLiteral(id)},
    method: ${toStringLiteral(method)},
    path: ${toStringLiteral(path)},
    security: ${inlineList(security.map(writeAlternative))},
${isOptional ? '    isOptional: true,\n' : ''}${rateLimit === 'default' ? '' : `    rateLimit: ${toStringLiteral(rateLimit)},\n`}${reachesOut ? '    reachesOut: true,\n' : ''}    parameters: ${lines(
    parameters.map(writeParameterSpec),
  )},
${body === undefined ? '' : `    body: ${writeBody(body)},\n`}    responses: {
${responses.map((response) => `      ${toStatusKey(response.status)}: ${writeResponse(contract, { operation, response }, names)},\n`).join('')}    },
    validate: {${validators.length === 0 ? '' : ` ${validators.join(', ')} `}},
  },
`;
}

function writeScheme({ caller, type, in: place, name, scheme }: Contract['schemes'][string]): string {
  const members = Object.entries({ caller, type, in: place, name, scheme }).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${toStringLiteral(value)}`],
  );
  return `{ ${members.join(', ')} }`;
}

function writeAlternative([first, ...others]: Operation['security'][number]): string {
  const write = ({ scheme, roles }: SecurityScheme): string =>
    `scheme: ${toStringLiteral(scheme)}, roles: ${inlineList(roles.map(toStringLiteral))}`;
  const and = others.length === 0 ? '' : `, and: ${inlineList(others.map((other) => `{ ${write(other)} }`))}`;
  return first === undefined ? '' : `{ ${write(first)}${and} }`;
}

function writeParameterSpec(parameter: Parameter): string {
  const { name, in: place, required, rest, allowsEmpty } = parameter;
  const members = [
    `name: ${toStringLiteral(name)}, in: ${toStringLiteral(place)}, required: ${required}`,
    ...writeTextValue(parameter),
    `rest: ${rest}`,
    ...writeTextFormat(parameter),
    ...(allowsEmpty ? ['allowsEmpty: true'] : []),
  ];
  return `{ ${members.join(', ')} }`;
}

function writeTextValue({ types, list, properties, others }: TextValue): readonly string[] {
  const [type] = types;
  const only = types.length === 1 ? type : undefined;
  return [
    `type: ${only === undefined ? inlineList(types.map(toStringLiteral)) : toStringLiteral(only)}`,
    `list: ${typeof list === 'boolean' ? String(list) : toStringLiteral(list)}`,
    ...(properties === undefined ? [] : [`properties: ${writeProperties(properties)}`]),
    ...(others === undefined ? [] : [`others: { ${writeTextValue(others).join(', ')} }`]),
  ];
}

function writeProperties(properties: Readonly<Record<string, TextValue>>): string {
  const members = Object.entries(properties).map(
    ([name, value]) => `${toKey(name)}: { ${writeTextValue(value).join(', ')} }`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function writeTextFormat({ style, explode, isJson }: TextFormat): readonly string[] {
  return [
    ...(style === undefined ? [] : [`style: ${toStringLiteral(style)}`]),
    ...(explode === undefined ? [] : [`explode: ${explode}`]),
    ...(isJson ? ['isJson: true'] : []),
  ];
}

function writeBody({ required, contents, maxBytes, isDeferred }: BodyContract): string {
  const types = inlineList(contents.map(({ essence }) => toStringLiteral(essence)));
  const forms = contents.flatMap(({ essence, form }) =>
    form === undefined || isDeferred ? [] : [`${toStringLiteral(essence)}: ${writeForm(form)}`],
  );
  const members = [
    `required: ${required}, contentTypes: ${types}, maxBytes: ${maxBytes}`,
    ...(isDeferred ? ['isDeferred: true'] : []),
    ...(hasContentType(contents) && !isDeferred ? ['hasContentType: true'] : []),
    ...(forms.length === 0 ? [] : [`forms: { ${forms.join(', ')} }`]),
  ];
  return `{ ${members.join(', ')} }`;
}

/** Returns whether a handler needs the media type of a body. */
function hasContentType(contents: BodyContract['contents']): boolean {
  return contents.length > 1 || contents.some(({ essence }) => essence.includes('*'));
}

function writeForm({ fields, files }: FormContract): string {
  const written = fields.map((field) => `        { ${writeFieldSpec(field).join(', ')} },\n`);
  const received = files.map((file) => `        ${writeFileSpec(file)},\n`);
  const list = (items: readonly string[]): string => (items.length === 0 ? '[]' : `[\n${items.join('')}      ]`);
  return `{ fields: ${list(written)}${files.length === 0 ? '' : `, files: ${list(received)}`} }`;
}

function writeFieldSpec(field: FormField): readonly string[] {
  const { name, required } = field;
  return [`name: ${toStringLiteral(name)}, required: ${required}`, ...writeTextValue(field), ...writeTextFormat(field)];
}

function writeFileSpec({ name, required, list, contentTypes, ...limits }: FormFile): string {
  const members = [
    `name: ${toStringLiteral(name)}, required: ${required}, list: ${list}`,
    ...(contentTypes.length === 0 ? [] : [`contentTypes: ${inlineList(contentTypes.map(toStringLiteral))}`]),
    ...Object.entries(limits).flatMap(([key, limit]) => (limit === undefined ? [] : [`${key}: ${limit}`])),
  ];
  return `{ ${members.join(', ')} }`;
}

function writeResponse(
  { schemas }: Contract,
  { operation: { id }, response }: { readonly operation: Operation; readonly response: ResponseContract },
  names: ValidatorNames,
): string {
  const { status, contents } = response;
  const name = names.responses.get(`${id} ${status}`);
  const types = inlineList(contents.map(({ essence }) => toStringLiteral(essence)));
  const isGuarded = contents.some(({ schema }) => hasAbsent(schema, schemas)) ? ', isGuarded: true' : '';
  return `{ contentTypes: ${types}${name === undefined ? '' : `, validate: validators.${name}`}${isGuarded} }`;
}

function inlineList(texts: readonly string[]): string {
  return `[${texts.join(', ')}]`;
}

function lines(texts: readonly string[]): string {
  return texts.length === 0 ? '[]' : `[\n${texts.map((text) => `      ${text},\n`).join('')}    ]`;
}

const PLACES = { params: 'path', query: 'query', headers: 'header', cookies: 'cookie' } as const;

/** Writes the input and output types of every operation, and an interface of handlers for each tag. */
function writeSignatures(contract: Contract): string {
  return [
    ...contract.operations.flatMap((operation) => [writeInput(contract, operation), writeOutput(operation)]),
    ...contract.tags.map((tag) => writeHandlers(tag)),
    ...(isTagOfService(contract) ? [] : [writeServiceHandlers(contract)]),
  ].join('\n');
}

/** Lists the caller types of the application that the signatures use, in alphabetical order. */
function listCallers({ schemes, operations }: Contract): readonly string[] {
  const used = new Set(operations.flatMap(({ security }) => security.flat().map(({ scheme }) => scheme)));
  const own = [...used].flatMap((scheme) =>
    schemes[scheme]?.hasOwnType ? [typeOfCaller(schemes, { scheme, roles: [] })] : [],
  );
  const isPublic = operations.some(({ security }) => security.length === 0);
  return [...new Set([...own, ...(isPublic ? ['Caller'] : [])])].sort();
}

function writeInput(contract: Contract, operation: Operation): string {
  const { id, typeName, body } = operation;
  const isUnion = body !== undefined && !body.isDeferred && hasContentType(body.contents);
  const members = [
    ...(['params', 'query', 'headers', 'cookies'] as const).flatMap((part) => {
      const parameters = operation.parameters.filter((parameter) => parameter.in === PLACES[part]);
      const written = parameters.map((parameter) => writeParameter(operation, parameter));
      return parameters.length === 0 ? [] : [`  readonly ${part}: {\n${written.join('')}  };\n`];
    }),
    ...(body === undefined || isUnion ? [] : [`  readonly body: ${bodyType(contract, operation)};\n`]),
    `  readonly caller: ${callerType(contract, operation)};\n`,
    ...writeCallers(contract, operation),
  ];
  const comment = `/** The input of \`${id}\`. */\n`;
  if (!isUnion) {
    return `${comment}export interface ${inputName(typeName)} extends RequestContext {\n${members.join('')}}\n`;
  }
  const variants = writeBodyVariants(contract, operation, body).map((variant) => `\n  | ${variant}`);
  const shared = `export type ${inputName(typeName)} = RequestContext & {\n${members.join('')}} & (${variants.join('')}\n);`;
  return `${comment}${shared}\n`;
}

/** Writes a member of the input for each media type, which tells the types of bodies apart. */
function writeBodyVariants(contract: Contract, operation: Operation, { contents, required }: BodyContract): string[] {
  const variants = contents.map((content) => {
    const type = content.essence.endsWith('/*') ? typeOfRange(content.essence) : toStringLiteral(content.essence);
    return `{ readonly contentType: ${type}; readonly body: ${typeOfBody(contract, operation, content)} }`;
  });
  return required ? variants : [...variants, '{ readonly contentType?: undefined; readonly body?: undefined }'];
}

function typeOfRange(range: string): string {
  return range === '*/*' ? 'string' : `\`${range.slice(0, -1)}\${string}\``;
}

function writeParameter({ id }: Operation, parameter: Parameter): string {
  const isPresent = parameter.required || parameter.hasDefault || parameter.in === 'path';
  const type = typeOfSchema(parameter.schema) ?? typeOfDeclared(id, parameter);
  return `${docstring(parameter.description, '    ')}    readonly ${toKey(parameter.name)}${isPresent ? '' : '?'}: ${type};\n`;
}

function bodyType(contract: Contract, operation: Operation): string {
  const { body } = operation;
  if (body?.isDeferred) return '() => Promise<Buffer>';
  const types = (body?.contents ?? []).map((content) => typeOfBody(contract, operation, content));
  return [...types, ...(body?.required ? [] : ['undefined'])].join(' | ');
}

function typeOfBody({ schemas }: Contract, { id }: Operation, content: MediaContent): string {
  const path = `NonNullable<shapes[${toStringLiteral(id)}]['requestBody']>['content'][${toStringLiteral(content.type)}]`;
  const files = (content.form?.files ?? []).map(({ name }) => toStringLiteral(name));
  if (content.kind === 'text' && content.schema !== undefined) return path;
  if (files.length === 0) return withDefaults(typeOfContent(content, path), schemas, content);
  const fields = withDefaults(`Omit<${path}, ${files.join(' | ')}>`, schemas, content);
  return `MultipartBody<${fields}, ${files.join(' | ')}>`;
}

/** Makes properties with a default required, as defaults are filled in before a handler is called. */
function withDefaults(type: string, schemas: Contract['schemas'], { kind, schema }: MediaContent): string {
  const target = resolveSchema(schemas, schema);
  if (kind === 'text' || kind === 'bytes' || typeof target !== 'object') return type;
  const names = Object.entries(target.properties ?? {}).flatMap(([name, property]) => {
    const resolved = resolveSchema(schemas, property);
    const isFilled = hasDefault(property) || hasDefault(resolved);
    return isFilled ? [toStringLiteral(name)] : [];
  });
  if (names.length === 0) return type;
  const isNullable = [target.type].flat().includes('null');
  const object = isNullable ? `NonNullable<${type}>` : type;
  return `${object} & Required<Pick<${object}, ${names.join(' | ')}>>${isNullable ? ' | null' : ''}`;
}

function hasDefault(schema: SchemaObject | undefined): boolean {
  return typeof schema === 'object' && schema.default !== undefined;
}

/** Returns the type of the caller: that of the first scheme of each alternative. */
function callerType({ schemes }: Contract, { security, isOptional }: Operation): string {
  if (security.length === 0) return 'Caller | undefined';
  const names = security.flatMap(([first]) => (first === undefined ? [] : [typeOfCaller(schemes, first)]));
  return [...new Set(names), ...(isOptional ? ['undefined'] : [])].join(' | ');
}

function typeOfCaller(schemes: Contract['schemes'], { scheme }: SecurityScheme): string {
  const known = schemes[scheme];
  if (known === undefined) return 'Caller';
  return known.hasOwnType ? `${pascal(known.caller)}Caller` : `CallerOf<${toStringLiteral(known.caller)}>`;
}

/** Writes the callers by scheme, if an alternative combines several. */
function writeCallers({ schemes }: Contract, { security, isOptional }: Operation): readonly string[] {
  if (security.every((alternative) => alternative.length === 1)) return [];
  const all = [...new Map(security.flat().map((one) => [one.scheme, one])).values()];
  const members = all.map((one) => {
    const isPresent = security.every((alternative) => alternative.some(({ scheme }) => scheme === one.scheme));
    return `    readonly ${toKey(one.scheme)}${isPresent ? '' : '?'}: ${typeOfCaller(schemes, one)};\n`;
  });
  const mark = isOptional || security.some((alternative) => alternative.length === 1) ? '?' : '';
  return [`  readonly callers${mark}: {\n${members.join('')}  };\n`];
}

function writeOutput(operation: Operation): string {
  const variants = operation.responses.filter(({ isError }) => !isError);
  const types = variants.map((response) => `  | {\n${writeVariant(operation, response)}    }`);
  if (types.length === 0) types.push('  never');
  const heading = `export type ${outputName(operation.typeName)} =`;
  return `/** The responses of \`${operation.id}\`. Errors are thrown. */\n${heading}\n${types.join('\n')};\n`;
}

function writeVariant(operation: Operation, { status, headers, contents }: ResponseContract): string {
  const types = contents.map((content) =>
    typeOfContent(
      content,
      `shapes[${toStringLiteral(operation.id)}]['responses'][${toStatusKey(status)}]['content'][${toStringLiteral(content.type)}]`,
    ),
  );
  const body = types.length === 0 ? 'readonly body?: undefined' : `readonly body: ${types.join(' | ')}`;
  const isRange = contents.length > 0 && contents.every(({ type }) => type.includes('*'));
  const type = isRange ? [{ name: 'Content-Type', required: true, description: '' }] : [];
  return `      readonly status: ${statusType(operation, status)};\n      ${body};\n${writeHeaders([...type, ...headers])}`;
}

/** Returns the type of the status of a response: itself, or those that have no response of their own. */
function statusType({ responses }: Operation, status: StatusKey): string {
  const known = responses.map((response) => response.status).filter((other) => other !== status && other !== 'default');
  const isRange = status === 'default' || status.endsWith('XX');
  const others = known.filter((other) => !other.endsWith('XX') || status === 'default').map(classType);
  if (!isRange) return status;
  return others.length === 0 ? classType(status) : `Exclude<${classType(status)}, ${others.join(' | ')}>`;
}

const classType = (status: StatusKey): string =>
  status === 'default'
    ? 'StatusIn<1 | 2 | 3 | 4 | 5>'
    : status.endsWith('XX')
      ? `StatusIn<${status.charAt(0)}>`
      : status;

const toStatusKey = (status: StatusKey): string => (/\D/.test(status) ? toStringLiteral(status) : status);

function writeHeaders(headers: ResponseContract['headers']): string {
  if (headers.length === 0) return '';
  const members = headers.map(({ name, required, description }) => {
    // The only header whose values can't be one list in a line (RFC 9110, 5.3): each cookie is a header of its own.
    const type = name.toLowerCase() === 'set-cookie' ? 'string | readonly string[]' : 'string';
    return `${docstring(description, '        ')}        readonly ${toKey(name)}${required ? '' : '?'}: ${type};\n`;
  });
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
  const base = parts === '' ? '' : ` extends ${parts}`;
  return `${docstring(`All handlers of ${title}.`)}export interface ${pascal(service)}Handlers${base} {}\n`;
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

/** Returns the type of a parameter in `types.ts`, which is exact but takes longer to read than that of a scalar. */
function typeOfDeclared(id: string, { in: place, declaredName, allowsEmpty }: Parameter): string {
  const parameters = `NonNullable<shapes[${toStringLiteral(id)}]['parameters'][${toStringLiteral(place)}]>`;
  return `Exclude<${parameters}[${toStringLiteral(declaredName)}], undefined>${allowsEmpty ? " | ''" : ''}`;
}

/** Returns the type of a scalar or a list of scalars; `undefined` for any other schema. */
function typeOfSchema(schema: SchemaObject | undefined): string | undefined {
  if (typeof schema !== 'object') return undefined;
  if (schema.$ref !== undefined) return typeOfReference(schema.$ref);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ') || 'never';
  switch (schema.type) {
    case 'array': {
      const item = schema.items === undefined ? 'string' : typeOfSchema(schema.items);
      return item === undefined ? undefined : `readonly (${item})[]`;
    }
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
    case 'string':
      return schema.type;
    default:
      return undefined;
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
    const exportName = toIdentifier(`${camel(name)}Handlers`);
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
  const names = tags.map(({ name }) => [toIdentifier(`${camel(name)}Handlers`), kebab(name)] as const);
  const imports = names.map(([handlers, file]) => `import { ${handlers} } from './${file}.js';\n`);
  return `import type { ${handlersName(service)} } from '../../generated/${service}/operations.js';
${imports.join('')}
${docstring(`All handlers of ${title}.`)}export const ${camel(service)}Handlers = (): ${handlersName(service)} => ({
${names.map(([handlers]) => `  ...${handlers}(),\n`).join('')}});
`;
}
