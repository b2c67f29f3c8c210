/** The types of the bundled contract, which has passed all checks. */

export type HttpMethod = 'delete' | 'get' | 'patch' | 'post' | 'put';

export const METHODS: readonly HttpMethod[] = ['delete', 'get', 'patch', 'post', 'put'];

/** The values of `x-body`: alternatives to parsing and validating a body before its handler is called. */
export const BODY_MODES = ['deferred'] as const;

/** The values of `x-rate-limit`: the rate limit that the requests of an operation count towards. */
export const RATE_LIMITS = ['create', 'default', 'none', 'sign-in'] as const;

export type RateLimitName = (typeof RATE_LIMITS)[number];

export interface ReferenceObject {
  readonly $ref: string;
}

/** A JSON Schema. `true` accepts any value, `false` none. */
export type SchemaObject = boolean | SchemaKeywords;

interface SchemaKeywords {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly items?: SchemaObject;
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly [keyword: string]: unknown;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: 'header' | 'path' | 'query';
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: SchemaObject;
  readonly 'x-rest'?: boolean;
}

interface HeaderObject {
  readonly description?: string;
  readonly required?: boolean;
}

interface MediaTypeObject {
  readonly schema?: SchemaObject;
  /** For `text/event-stream` only: the schema of the event data. */
  readonly 'x-event'?: SchemaObject;
}

export type ContentObject = Readonly<Record<string, MediaTypeObject>>;

export interface RequestBodyObject {
  readonly required?: boolean;
  readonly content: ContentObject;
  readonly 'x-max-bytes'?: number;
  readonly 'x-body'?: (typeof BODY_MODES)[number];
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderObject | ReferenceObject>>;
  readonly content?: ContentObject;
}

type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[];
  readonly requestBody?: ReferenceObject | RequestBodyObject;
  readonly responses: Readonly<Record<string, ReferenceObject | ResponseObject>>;
  readonly security?: readonly SecurityRequirement[];
  readonly 'x-rate-limit'?: RateLimitName;
  readonly 'x-reaches-out'?: boolean;
}

export type PathItemObject = Partial<Readonly<Record<HttpMethod, OperationObject>>> & {
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[];
};

export type CallerKind = 'consumer_token' | 'session' | 'token';

export interface ContractDocument {
  readonly info: { readonly title: string };
  readonly servers: readonly [{ readonly url: string }];
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly security?: readonly SecurityRequirement[];
  readonly paths: Readonly<Record<string, PathItemObject>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, SchemaObject>>;
    readonly securitySchemes?: Readonly<Record<string, { readonly 'x-caller': CallerKind }>>;
    readonly [section: string]: Readonly<Record<string, unknown>> | undefined;
  };
}

/** Returns the object itself, or the component that it refers to. */
export function dereference<T extends object>(document: ContractDocument, object: ReferenceObject | T): T {
  if (!('$ref' in object) || typeof object.$ref !== 'string') return object as T;
  const [, , section = '', name = ''] = object.$ref.split('/');
  // The checks guarantee that references lead to components of the right type.
  return dereference(document, document.components?.[section]?.[name] as ReferenceObject | T);
}
