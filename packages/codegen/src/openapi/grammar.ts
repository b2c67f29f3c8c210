/**
 * The part of OpenAPI 3.1 that the generators support, as a table. Fields in `unsupported` exist in OpenAPI but are
 * rejected here; the text names the alternative. Fields in `unused` are accepted with a warning, as nothing follows from
 * them.
 */
import { BODY_MODES, PLACES, RATE_LIMITS } from './contract.js';
import { child, type DocumentNode, entries, has, isRecord, items } from './nodes.js';

export type Scalar = 'boolean' | 'count' | 'number' | 'pattern' | 'text' | 'values';

export type ValueRule =
  | Scalar
  | 'any'
  | { readonly oneOf: readonly string[] }
  | { readonly matching: RegExp; readonly expected: string }
  | { readonly object: ObjectName }
  | { readonly list: ValueRule; readonly isFilled?: boolean }
  | { readonly map: ValueRule; readonly keys?: Scalar }
  | { readonly either: readonly [ValueRule, ValueRule] };

export interface ObjectRule {
  readonly fields: Readonly<Record<string, ValueRule>>;
  readonly required?: readonly string[];
  /** The rule of all other fields, if the author chooses their names. */
  readonly others?: ValueRule;
  readonly unsupported?: Readonly<Record<string, string>>;
  readonly unused?: Readonly<Record<string, string>>;
  /** The section of `components` that a `$ref` in place of the object may refer to. */
  readonly section?: string;
}

export type ObjectName =
  | 'callback'
  | 'components'
  | 'contact'
  | 'contract'
  | 'discriminator'
  | 'encoding'
  | 'example'
  | 'externalDocs'
  | 'header'
  | 'info'
  | 'license'
  | 'link'
  | 'mediaType'
  | 'operation'
  | 'parameter'
  | 'pathItem'
  | 'requestBody'
  | 'response'
  | 'schema'
  | 'securityScheme'
  | 'server'
  | 'serverVariable'
  | 'tag'
  | 'webhook';

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] as const;
const STYLES = ['deepObject', 'form', 'label', 'matrix', 'pipeDelimited', 'simple', 'spaceDelimited'] as const;
const SCHEMA: ValueRule = { object: 'schema' };
const ALTERNATIVES: ValueRule = { list: SCHEMA, isFilled: true };
const EXAMPLES: ValueRule = { map: { object: 'example' } };
const OPERATION: ValueRule = { object: 'operation' };
const SECURITY: ValueRule = { list: { map: { list: 'text' } } };
const EXTERNAL_DOCS: ValueRule = { object: 'externalDocs' };
const SERVERS: ValueRule = { list: { object: 'server' } };
const OTHER_SERVERS = 'the operations of a contract have one base path, that of its first server';
const NEW = 'it is new in OpenAPI 3.2, and the contract is read as 3.1';

/** The dialects of schemas, which have the same meaning here. */
const DIALECTS = [
  'https://json-schema.org/draft/2020-12/schema',
  'https://json-schema.org/draft/2020-12/schema#',
  'https://spec.openapis.org/oas/3.1/dialect/base',
];

const PATH_ITEM = {
  fields: {
    delete: OPERATION,
    get: OPERATION,
    head: OPERATION,
    options: OPERATION,
    patch: OPERATION,
    post: OPERATION,
    put: OPERATION,
    parameters: { list: { object: 'parameter' } },
    servers: SERVERS,
    summary: 'text',
    description: 'text',
  },
  unused: { servers: OTHER_SERVERS },
  unsupported: {
    trace: 'servers should not offer it, as it reflects headers',
    query: NEW,
    additionalOperations: NEW,
  },
} as const satisfies ObjectRule;

export const OPENAPI_GRAMMAR: Readonly<Record<ObjectName, ObjectRule>> = {
  contract: {
    required: ['openapi', 'info'],
    fields: {
      openapi: { matching: /^3\.[12]\.\d+$/, expected: 'a version from 3.0 to 3.2, such as 3.1.0' },
      jsonSchemaDialect: { oneOf: DIALECTS },
      info: { object: 'info' },
      servers: SERVERS,
      tags: { list: { object: 'tag' } },
      paths: { map: { object: 'pathItem' } },
      webhooks: { map: { object: 'webhook' } },
      components: { object: 'components' },
      security: SECURITY,
      externalDocs: EXTERNAL_DOCS,
    },
    unsupported: { $self: NEW, swagger: 'convert the document to OpenAPI 3 first' },
  },
  info: {
    required: ['title', 'version'],
    fields: {
      title: 'text',
      version: 'text',
      summary: 'text',
      description: 'text',
      termsOfService: 'text',
      contact: { object: 'contact' },
      license: { object: 'license' },
    },
  },
  contact: { fields: { name: 'text', url: 'text', email: 'text' } },
  license: { required: ['name'], fields: { name: 'text', identifier: 'text', url: 'text' } },
  externalDocs: { required: ['url'], fields: { url: 'text', description: 'text' } },
  server: {
    required: ['url'],
    fields: { url: 'text', description: 'text', name: 'text', variables: { map: { object: 'serverVariable' } } },
  },
  serverVariable: {
    required: ['default'],
    fields: { default: 'text', enum: { list: 'text' }, description: 'text' },
  },
  tag: {
    required: ['name'],
    fields: {
      name: 'text',
      summary: 'text',
      description: 'text',
      externalDocs: EXTERNAL_DOCS,
      parent: 'text',
      kind: 'text',
    },
  },
  components: {
    fields: {
      schemas: { map: SCHEMA },
      responses: { map: { object: 'response' } },
      parameters: { map: { object: 'parameter' } },
      examples: EXAMPLES,
      requestBodies: { map: { object: 'requestBody' } },
      headers: { map: { object: 'header' } },
      securitySchemes: { map: { object: 'securityScheme' } },
      links: { map: { object: 'link' } },
      callbacks: { map: { object: 'callback' } },
      pathItems: { map: { object: 'pathItem' } },
    },
    unsupported: { mediaTypes: NEW },
  },
  pathItem: { section: 'pathItems', ...PATH_ITEM },
  webhook: { section: 'pathItems', ...PATH_ITEM },
  operation: {
    required: ['responses'],
    fields: {
      operationId: 'text',
      tags: { list: 'text' },
      summary: 'text',
      description: 'text',
      parameters: { list: { object: 'parameter' } },
      requestBody: { object: 'requestBody' },
      responses: { map: { object: 'response' } },
      security: SECURITY,
      deprecated: 'boolean',
      callbacks: { map: { object: 'callback' } },
      externalDocs: EXTERNAL_DOCS,
      servers: SERVERS,
      'x-rate-limit': { oneOf: RATE_LIMITS },
      'x-reaches-out': 'boolean',
    },
    unused: { servers: OTHER_SERVERS },
  },
  callback: { section: 'callbacks', fields: {}, others: { object: 'webhook' } },
  link: {
    section: 'links',
    fields: {
      operationRef: 'text',
      operationId: 'text',
      parameters: { map: 'any' },
      requestBody: 'any',
      description: 'text',
      server: { object: 'server' },
    },
  },
  parameter: {
    section: 'parameters',
    required: ['name', 'in'],
    fields: {
      name: 'text',
      in: { oneOf: PLACES },
      description: 'text',
      required: 'boolean',
      deprecated: 'boolean',
      schema: SCHEMA,
      content: { map: { object: 'mediaType' } },
      style: { oneOf: STYLES },
      explode: 'boolean',
      allowReserved: 'boolean',
      allowEmptyValue: 'boolean',
      example: 'any',
      examples: EXAMPLES,
      'x-rest': 'boolean',
    },
  },
  requestBody: {
    section: 'requestBodies',
    required: ['content'],
    fields: {
      content: { map: { object: 'mediaType' } },
      description: 'text',
      required: 'boolean',
      'x-max-bytes': 'count',
      'x-body': { oneOf: BODY_MODES },
    },
  },
  mediaType: {
    fields: {
      schema: SCHEMA,
      example: 'any',
      examples: EXAMPLES,
      encoding: { map: { object: 'encoding' } },
      'x-event': SCHEMA,
    },
  },
  encoding: {
    fields: {
      contentType: 'text',
      style: { oneOf: STYLES },
      explode: 'boolean',
      allowReserved: 'boolean',
      'x-max-bytes': 'count',
    },
    unsupported: { headers: 'the headers of a part are its name, file name and media type' },
  },
  response: {
    section: 'responses',
    required: ['description'],
    fields: {
      summary: 'text',
      description: 'text',
      headers: { map: { object: 'header' } },
      content: { map: { object: 'mediaType' } },
      links: { map: { object: 'link' } },
    },
  },
  header: {
    section: 'headers',
    fields: {
      description: 'text',
      required: 'boolean',
      deprecated: 'boolean',
      schema: SCHEMA,
      content: { map: { object: 'mediaType' } },
      style: { oneOf: ['simple'] },
      explode: 'boolean',
      example: 'any',
      examples: EXAMPLES,
    },
  },
  example: {
    section: 'examples',
    fields: { summary: 'text', description: 'text', value: 'any', externalValue: 'text' },
    unsupported: { dataValue: NEW, serializedValue: NEW },
  },
  securityScheme: {
    section: 'securitySchemes',
    required: ['type'],
    fields: {
      type: { oneOf: ['apiKey', 'http', 'oauth2', 'openIdConnect', 'mutualTLS'] },
      name: 'text',
      in: { oneOf: ['cookie', 'header', 'query'] },
      scheme: 'text',
      bearerFormat: 'text',
      flows: { map: 'any' },
      openIdConnectUrl: 'text',
      description: 'text',
      'x-caller': 'text',
    },
  },
  schema: {
    section: 'schemas',
    fields: {
      $ref: 'text',
      $schema: { oneOf: DIALECTS },
      $comment: 'text',
      $defs: { map: SCHEMA },
      title: 'text',
      description: 'text',
      type: { either: [{ oneOf: TYPES }, { list: { oneOf: TYPES }, isFilled: true }] },
      enum: 'values',
      const: 'any',
      default: 'any',
      example: 'any',
      examples: { list: 'any' },
      deprecated: 'boolean',
      readOnly: 'boolean',
      writeOnly: 'boolean',
      format: 'text',
      discriminator: { object: 'discriminator' },
      externalDocs: EXTERNAL_DOCS,
      xml: 'any',
      contentEncoding: 'text',
      contentMediaType: 'text',
      contentSchema: SCHEMA,
      minimum: 'number',
      maximum: 'number',
      exclusiveMinimum: 'number',
      exclusiveMaximum: 'number',
      multipleOf: 'number',
      minLength: 'count',
      maxLength: 'count',
      'x-max-bytes': 'count',
      pattern: 'pattern',
      items: { either: ['boolean', SCHEMA] },
      prefixItems: { list: SCHEMA },
      contains: SCHEMA,
      minContains: 'count',
      maxContains: 'count',
      minItems: 'count',
      maxItems: 'count',
      uniqueItems: 'boolean',
      properties: { map: SCHEMA },
      patternProperties: { map: SCHEMA, keys: 'pattern' },
      dependentRequired: { map: { list: 'text' } },
      dependentSchemas: { map: SCHEMA },
      propertyNames: SCHEMA,
      additionalProperties: { either: ['boolean', SCHEMA] },
      unevaluatedProperties: { either: ['boolean', SCHEMA] },
      unevaluatedItems: { either: ['boolean', SCHEMA] },
      required: { list: 'text' },
      minProperties: 'count',
      maxProperties: 'count',
      allOf: ALTERNATIVES,
      anyOf: ALTERNATIVES,
      oneOf: ALTERNATIVES,
      not: SCHEMA,
      if: SCHEMA,
      then: SCHEMA,
      else: SCHEMA,
    },
    unused: { xml: 'bodies of XML are text or bytes' },
    unsupported: {
      nullable: "use type: [string, 'null']",
      $id: 'use components.schemas or $defs',
      $anchor: 'use components.schemas or $defs',
      $vocabulary: 'schemas have all vocabularies of JSON Schema 2020-12',
      $dynamicRef: 'use $ref',
      $dynamicAnchor: 'use $ref',
      $recursiveRef: 'use $ref',
      $recursiveAnchor: 'use $ref',
      definitions: 'use $defs',
      dependencies: 'use dependentRequired or dependentSchemas',
      additionalItems: 'use prefixItems with items',
    },
  },
  discriminator: {
    required: ['propertyName'],
    fields: { propertyName: 'text', mapping: { map: 'text' } },
    unsupported: { defaultMapping: NEW },
  },
};

/** An object of OpenAPI in a document, such as a schema or a parameter, or the reference in its place. */
export interface TypedNode {
  readonly place: DocumentNode;
  readonly name: ObjectName;
}

/** Lists the objects of a document by the grammar, each before its parts. References are not followed. */
export function listObjects(place: DocumentNode, name: ObjectName = 'contract'): TypedNode[] {
  const found: TypedNode[] = [];
  collectObject(place, name, found);
  return found;
}

function collectObject(place: DocumentNode, name: ObjectName, found: TypedNode[]): void {
  if (!isRecord(place.value)) return;
  found.push({ place, name });
  const { fields, others, section } = OPENAPI_GRAMMAR[name];
  // Only schemas have other members beside a reference.
  if (section !== undefined && name !== 'schema' && has(place, '$ref')) return;
  for (const key of Object.keys(place.value)) {
    const rule = Object.hasOwn(fields, key) ? fields[key] : key.startsWith('x-') ? undefined : others;
    if (rule !== undefined && isCompound(rule)) collect(child(place, key), rule, found);
  }
}

type Compound = Exclude<ValueRule, string>;

const isCompound = (rule: ValueRule): rule is Compound => typeof rule === 'object';

function collect(place: DocumentNode, rule: ValueRule, found: TypedNode[]): void {
  if (!isCompound(rule)) return;
  if ('object' in rule) collectObject(place, rule.object, found);
  else if ('list' in rule) for (const item of items(place)) collect(item, rule.list, found);
  else if ('map' in rule) for (const [, member] of entries(place)) collect(member, rule.map, found);
  else if ('either' in rule) for (const one of rule.either) collect(place, one, found);
}
