import type { Location } from '../documents.js';

/**
 * The effect of a change on clients of the previous contract: `breaking` for those that are correct, `dangerous` for
 * those that rely on something that the contract did not promise, `safe` for none.
 */
export type Severity = 'breaking' | 'dangerous' | 'safe';

/** A difference between two contracts. */
export interface ContractChange {
  readonly rule: string;
  readonly severity: Severity;
  /** One sentence. */
  readonly message: string;
  /** The line of the changed contract; of the previous one for a removed part, with the ref before the file. */
  readonly location: Location;
  /** The operations, or the fields of `Query`, that are affected. */
  readonly operations: readonly string[];
  /** The lines of the repository's own programs that use them. */
  readonly consumers: readonly Location[];
}

interface Rule {
  readonly severity: Severity;
  /** The change, for the table of rules. */
  readonly text: string;
}

/** The rules that do not depend on the direction. */
const OPERATION_RULES = {
  'operation-removed': { severity: 'breaking', text: 'an operation or its path is removed' },
  'operation-added': { severity: 'safe', text: 'an operation is added' },
  'operation-renamed': {
    severity: 'dangerous',
    text: 'an `operationId`, which names the functions of clients, changes',
  },
  'operation-deprecated': { severity: 'safe', text: 'an operation is deprecated' },
  'server-changed': { severity: 'breaking', text: 'the path of the server changes' },
  'security-stricter': {
    severity: 'breaking',
    text: 'a credential or scope that sufficed suffices no longer, or is sent in another header or form',
  },
  'security-looser': { severity: 'safe', text: 'another credential suffices, or none is required' },
  'parameter-removed': { severity: 'dangerous', text: 'a parameter is removed, so that its value is ignored' },
  'required-parameter-added': { severity: 'breaking', text: 'a required parameter is added' },
  'parameter-added': { severity: 'safe', text: 'an optional parameter is added' },
  'parameter-became-required': { severity: 'breaking', text: 'a parameter becomes required' },
  'parameter-became-optional': { severity: 'safe', text: 'a parameter becomes optional' },
  'parameter-style-changed': {
    severity: 'breaking',
    text: '`style`, `explode` or `allowReserved` of a parameter or a field of a form changes',
  },
  'body-removed': { severity: 'breaking', text: 'the request body is removed' },
  'required-body-added': { severity: 'breaking', text: 'a required request body is added' },
  'body-added': { severity: 'safe', text: 'an optional request body is added' },
  'body-became-required': { severity: 'breaking', text: 'the request body becomes required' },
  'body-became-optional': { severity: 'safe', text: 'the request body becomes optional' },
  'body-limit-lowered': { severity: 'breaking', text: '`x-max-bytes` is lowered' },
  'body-limit-raised': { severity: 'safe', text: '`x-max-bytes` is raised' },
  'request-type-removed': { severity: 'breaking', text: 'a media type of the request body is removed' },
  'request-type-added': { severity: 'safe', text: 'a media type of the request body is added' },
  'success-removed': { severity: 'breaking', text: 'a status 2XX or 3XX is removed' },
  'success-added': { severity: 'dangerous', text: 'a status 2XX or 3XX is added' },
  'error-removed': { severity: 'safe', text: 'a status 4XX or 5XX is removed' },
  'error-added': { severity: 'safe', text: 'a status 4XX or 5XX is added' },
  'response-type-removed': { severity: 'breaking', text: 'a media type of a response is removed' },
  'response-type-added': { severity: 'safe', text: 'a media type of a response is added' },
  'required-header-removed': { severity: 'breaking', text: 'a required header of a response is removed' },
  'header-removed': { severity: 'dangerous', text: 'an optional header of a response is removed' },
  'header-added': { severity: 'safe', text: 'a header of a response is added' },
  'header-became-optional': { severity: 'breaking', text: 'a header of a response becomes optional' },
  'header-became-required': { severity: 'safe', text: 'a header of a response becomes required' },
  'webhook-removed': { severity: 'breaking', text: 'a webhook or callback is removed' },
  'webhook-added': { severity: 'safe', text: 'a webhook or callback is added' },
} as const satisfies Readonly<Record<string, Rule>>;

interface SchemaRule {
  readonly request: Severity;
  readonly response: Severity;
  readonly text: string;
}

/** The rules for schemas: a request may become looser, and a response stricter. */
const SCHEMA_RULES = {
  'type-narrowed': {
    request: 'breaking',
    response: 'safe',
    text: 'fewer types are possible, such as `number` to `integer`, or without `null`',
  },
  'type-widened': { request: 'safe', response: 'breaking', text: 'more types are possible' },
  'type-changed': { request: 'breaking', response: 'breaking', text: 'other types are possible' },
  'value-removed': {
    request: 'breaking',
    response: 'safe',
    text: 'a value of `enum` or `const` is removed, or `enum` is added',
  },
  'value-added': { request: 'safe', response: 'dangerous', text: 'a value of `enum` is added, or `enum` is removed' },
  'bound-tightened': {
    request: 'breaking',
    response: 'safe',
    text: 'a bound, `pattern`, `format`, `multipleOf` or `uniqueItems` is added or tightened',
  },
  'bound-loosened': {
    request: 'safe',
    response: 'dangerous',
    text: 'a bound, `pattern`, `format`, `multipleOf` or `uniqueItems` is removed or loosened',
  },
  'format-changed': {
    request: 'dangerous',
    response: 'dangerous',
    text: 'a `pattern`, `format` or `multipleOf` is replaced by a different one',
  },
  'property-became-required': { request: 'breaking', response: 'safe', text: 'a property becomes required' },
  'property-became-optional': { request: 'safe', response: 'breaking', text: 'a property becomes optional' },
  'required-property-added': { request: 'breaking', response: 'safe', text: 'a required property is added' },
  'property-added': { request: 'safe', response: 'safe', text: 'an optional property is added' },
  'required-property-removed': { request: 'dangerous', response: 'breaking', text: 'a required property is removed' },
  'property-removed': { request: 'dangerous', response: 'dangerous', text: 'an optional property is removed' },
  'property-refused': {
    request: 'breaking',
    response: 'safe',
    text: 'a property is removed where `additionalProperties` is `false`, or `additionalProperties` becomes `false`',
  },
  'properties-opened': { request: 'safe', response: 'safe', text: '`additionalProperties` is no longer `false`' },
  'variant-removed': { request: 'breaking', response: 'safe', text: 'an alternative of `oneOf` or `anyOf` is removed' },
  'variant-added': { request: 'safe', response: 'breaking', text: 'an alternative of `oneOf` or `anyOf` is added' },
  'default-changed': { request: 'dangerous', response: 'safe', text: 'a `default` changes' },
  'schema-changed': {
    request: 'dangerous',
    response: 'dangerous',
    text: 'another keyword changes, whose effect is not compared, such as `not` or `if`',
  },
} as const satisfies Readonly<Record<string, SchemaRule>>;

/** A schema is compared for the values that clients send, or for those that they receive. */
export type MessageKind = 'request' | 'response';

export type OperationRule = keyof typeof OPERATION_RULES;
export type SchemaRuleName = keyof typeof SCHEMA_RULES;

/** Every rule with its name, as shown in the table of the documentation. */
export const RULES: ReadonlyMap<string, Rule> = new Map([
  ...Object.entries<Rule>(OPERATION_RULES),
  ...(['request', 'response'] as const).flatMap((direction) =>
    Object.entries<SchemaRule>(SCHEMA_RULES).map(
      ([name, { text, ...rule }]) => [`${direction}-${name}`, { severity: rule[direction], text }] as const,
    ),
  ),
]);

export const severityOf = (rule: string): Severity => RULES.get(rule)?.severity ?? 'dangerous';
