/**
 * The part of OpenAPI 3.1 that the generators support, as a table. Fields in `unsupported` exist in OpenAPI but are
 * rejected here; the text names the alternative.
 */
import { formatNames } from 'ajv-formats/dist/formats.js';
import { BODY_MODES, PLACES, RATE_LIMITS } from './contract.js';

export type Scalar = 'boolean' | 'count' | 'number' | 'pattern' | 'text' | 'values';

export type ValueRule =
  | Scalar
  | 'any'
  | { readonly oneOf: readonly string[] }
  | { readonly object: ObjectName }
  | { readonly list: ValueRule }
  | { readonly map: ValueRule }
  | { readonly either: readonly [ValueRule, ValueRule] };

export interface ObjectRule {
  readonly fields: Readonly<Record<string, ValueRule>>;
  readonly required?: readonly string[];
  readonly unsupported?: Readonly<Record<string, string>>;
  /** The section of `components` that a `$ref` in place of the object may refer to. */
  readonly section?: string;
}

export type ObjectName =
  | 'components'
  | 'contract'
  | 'encoding'
  | 'example'
  | 'header'
  | 'info'
  | 'mediaType'
  | 'operation'
  | 'parameter'
  | 'pathItem'
  | 'requestBody'
  | 'response'
  | 'schema'
  | 'securityScheme'
  | 'server'
  | 'tag';

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] as const;
const STYLES = ['deepObject', 'form', 'label', 'matrix', 'pipeDelimited', 'simple', 'spaceDelimited'] as const;
const SCHEMA: ValueRule = { object: 'schema' };
const EXAMPLES: ValueRule = { map: { object: 'example' } };
const OPERATION: ValueRule = { object: 'operation' };
const SECURITY: ValueRule = { list: { map: { list: 'text' } } };
const SUPPORTED_METHODS = 'use delete, get, patch, post or put';

export const OPENAPI_GRAMMAR: Readonly<Record<ObjectName, ObjectRule>> = {
  contract: {
    required: ['openapi', 'info'],
    fields: {
      openapi: { oneOf: ['3.1.0', '3.1.1'] },
      info: { object: 'info' },
      servers: { list: { object: 'server' } },
      tags: { list: { object: 'tag' } },
      paths: { map: { object: 'pathItem' } },
      components: { object: 'components' },
      security: SECURITY,
      externalDocs: 'any',
    },
    unsupported: {
      webhooks: 'describe what the server sends in prose',
      jsonSchemaDialect: 'schemas are JSON Schema 2020-12',
    },
  },
  info: {
    required: ['title', 'version'],
    fields: {
      title: 'text',
      version: 'text',
      summary: 'text',
      description: 'text',
      termsOfService: 'text',
      contact: 'any',
      license: 'any',
    },
  },
  server: {
    required: ['url'],
    fields: { url: 'text', description: 'text' },
    unsupported: { variables: 'write the complete path' },
  },
  tag: { required: ['name'], fields: { name: 'text', description: 'text', externalDocs: 'any' } },
  components: {
    fields: {
      schemas: { map: SCHEMA },
      responses: { map: { object: 'response' } },
      parameters: { map: { object: 'parameter' } },
      examples: EXAMPLES,
      requestBodies: { map: { object: 'requestBody' } },
      headers: { map: { object: 'header' } },
      securitySchemes: { map: { object: 'securityScheme' } },
    },
    unsupported: {
      links: 'describe them in prose',
      callbacks: 'describe them in prose',
      pathItems: 'write paths under paths',
    },
  },
  pathItem: {
    fields: {
      delete: OPERATION,
      get: OPERATION,
      patch: OPERATION,
      post: OPERATION,
      put: OPERATION,
      parameters: { list: { object: 'parameter' } },
      summary: 'text',
      description: 'text',
    },
    unsupported: {
      head: SUPPORTED_METHODS,
      options: SUPPORTED_METHODS,
      trace: SUPPORTED_METHODS,
      servers: 'a contract has one server, at its root',
      $ref: 'write the path item inline',
    },
  },
  operation: {
    required: ['operationId', 'tags', 'summary', 'responses'],
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
      externalDocs: 'any',
      'x-rate-limit': { oneOf: RATE_LIMITS },
      'x-reaches-out': 'boolean',
    },
    unsupported: {
      callbacks: 'describe them in prose',
      servers: 'a contract has one server, at its root',
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
    fields: { contentType: 'text', style: { oneOf: STYLES }, explode: 'boolean', allowReserved: 'boolean' },
    unsupported: { headers: 'the headers of a part are its name, file name and media type' },
  },
  response: {
    section: 'responses',
    required: ['description'],
    fields: {
      description: 'text',
      headers: { map: { object: 'header' } },
      content: { map: { object: 'mediaType' } },
    },
    unsupported: { links: 'describe them in prose' },
  },
  header: {
    section: 'headers',
    required: ['schema'],
    fields: {
      description: 'text',
      required: 'boolean',
      deprecated: 'boolean',
      schema: SCHEMA,
      example: 'any',
      examples: EXAMPLES,
    },
    unsupported: { content: 'use schema', style: 'a header is a single value', explode: 'a header is a single value' },
  },
  example: {
    section: 'examples',
    required: ['value'],
    fields: { summary: 'text', description: 'text', value: 'any' },
    unsupported: { externalValue: 'write the value inline' },
  },
  securityScheme: {
    section: 'securitySchemes',
    required: ['type', 'x-caller'],
    fields: {
      type: { oneOf: ['apiKey', 'http'] },
      name: 'text',
      in: { oneOf: ['cookie'] },
      scheme: { oneOf: ['bearer'] },
      bearerFormat: 'text',
      description: 'text',
      'x-caller': { oneOf: ['consumer_token', 'session', 'token'] },
    },
    unsupported: {
      flows: 'use a session cookie or a bearer token',
      openIdConnectUrl: 'use a session cookie or a bearer token',
    },
  },
  schema: {
    section: 'schemas',
    fields: {
      $ref: 'text',
      $comment: 'text',
      title: 'text',
      description: 'text',
      type: { either: [{ oneOf: TYPES }, { list: { oneOf: TYPES } }] },
      enum: 'values',
      const: 'any',
      default: 'any',
      example: 'any',
      examples: { list: 'any' },
      deprecated: 'boolean',
      readOnly: 'boolean',
      writeOnly: 'boolean',
      format: { oneOf: formatNames },
      contentEncoding: 'text',
      contentMediaType: 'text',
      minimum: 'number',
      maximum: 'number',
      exclusiveMinimum: 'number',
      exclusiveMaximum: 'number',
      multipleOf: 'number',
      minLength: 'count',
      maxLength: 'count',
      'x-max-bytes': 'count',
      pattern: 'pattern',
      items: SCHEMA,
      prefixItems: { list: SCHEMA },
      contains: SCHEMA,
      minItems: 'count',
      maxItems: 'count',
      uniqueItems: 'boolean',
      properties: { map: SCHEMA },
      patternProperties: { map: SCHEMA },
      propertyNames: SCHEMA,
      additionalProperties: { either: ['boolean', SCHEMA] },
      unevaluatedProperties: { either: ['boolean', SCHEMA] },
      required: { list: 'text' },
      minProperties: 'count',
      maxProperties: 'count',
      allOf: { list: SCHEMA },
      anyOf: { list: SCHEMA },
      oneOf: { list: SCHEMA },
      not: SCHEMA,
    },
    unsupported: {
      nullable: "use type: [string, 'null']",
      discriminator: 'use oneOf with a const property',
      xml: 'bodies are JSON, text or bytes',
      $defs: 'use components.schemas',
      $id: 'use components.schemas',
      $anchor: 'use components.schemas',
      $dynamicRef: 'use $ref',
      $dynamicAnchor: 'use $ref',
      if: 'use oneOf',
      then: 'use oneOf',
      else: 'use oneOf',
    },
  },
};
