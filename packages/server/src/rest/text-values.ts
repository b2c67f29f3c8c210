/** Conversion of text to the types of a contract: parameters, and the fields of forms. */
import { AppError } from '@trellis/core/errors';
import { parseUntrustedJson } from '../http/body.js';
import type { FieldSpec, TextSpec, TextType } from './operation.js';

/** The values of the parameters of one place, or of the fields of a form, by name and without absent ones. */
export type TextValues = Readonly<Record<string, unknown>>;

/** The text of a request in which fields are looked up. */
export interface TextSource {
  /** What is named in messages, such as `query parameter`. */
  readonly word: string;
  /** Whether a list has a name for each item unless `explode` says otherwise, as in queries (style `form`). */
  readonly isForm: boolean;
  /** All names, in their order. */
  readonly names: () => Iterable<string>;
  /** Returns the decoded texts of a name. */
  readonly find: (name: string) => readonly string[];
  /** Returns the texts of a name with the delimiters in them still encoded. */
  readonly findEncoded: (name: string) => readonly string[];
  readonly decode: (text: string) => string;
}

/**
 * Reads the values of fields.
 *
 * @throws AppError `invalid_input` with the name of the field.
 */
export function readTextValues(fields: readonly FieldSpec[], source: TextSource): TextValues {
  const found: Record<string, unknown> = {};
  for (const field of fields) {
    const value = new FieldReader(field, source, fields).read();
    if (value !== undefined) found[field.name] = value;
    else if (field.required) throw invalid(field, source, 'is required');
  }
  return found;
}

const DELIMITERS = { pipeDelimited: '|', spaceDelimited: ' ' } as const;

class FieldReader {
  readonly #field: FieldSpec & { readonly allowsEmpty?: true };
  readonly #source: TextSource;
  readonly #fields: readonly FieldSpec[];
  readonly #explodes: boolean;

  constructor(field: FieldSpec, source: TextSource, fields: readonly FieldSpec[]) {
    this.#field = field;
    this.#source = source;
    this.#fields = fields;
    this.#explodes = field.explode ?? (source.isForm && field.style === undefined);
  }

  read(): unknown {
    const { name, properties, isJson, type } = this.#field;
    if (isJson) return this.#readJson(this.#source.find(name));
    const object = properties === undefined ? undefined : this.#readObject();
    if (object !== undefined || (properties !== undefined && type.length === 0)) return object ?? this.#emptyObject();
    return this.#toValue(this.#field, this.#splitList());
  }

  /** A list of JSON values has a text for each, or one text for all. */
  #readJson(all: readonly string[]): unknown {
    const values = all.filter((text) => text !== '').map((text) => this.#parseJson(text));
    if (values.length === 0) return undefined;
    const [value] = values;
    if (this.#field.list === true) return values.length === 1 && Array.isArray(value) ? value : values;
    if (values.length > 1) throw this.#repeated(values.length);
    return value;
  }

  #parseJson(text: string): unknown {
    try {
      return parseUntrustedJson(Buffer.from(text));
    } catch (error) {
      if (error instanceof AppError) throw this.#invalid('must be JSON', error);
      throw error;
    }
  }

  #toValue(spec: TextSpec & { readonly allowsEmpty?: true }, texts: readonly string[]): unknown {
    if (spec.allowsEmpty && texts.length === 1 && texts[0] === '') return '';
    // Forms send `?limit=` for an empty field.
    const keepsEmpty = spec.type === 'string' || spec.type.includes('string') || spec.type.includes('null');
    const given = keepsEmpty ? texts : texts.filter((text) => text !== '');
    if (given.length === 0) return undefined;
    const values = given.map((text) => this.#coerce(spec.type, text));
    if (spec.list === true || (spec.list === 'repeated' && values.length > 1)) return values;
    if (values.length > 1) throw this.#repeated(values.length);
    return values[0];
  }

  /** Returns the texts of a scalar or of the items of a list. */
  #splitList(): readonly string[] {
    const { name, list } = this.#field;
    if (list === false || (this.#explodes && this.#source.isForm)) return this.#source.find(name);
    return this.#split();
  }

  /** Splits text at the delimiters that are not part of a value, which are encoded there. */
  #split(): readonly string[] {
    const { name, style } = this.#field;
    const { decode, findEncoded } = this.#source;
    if (style === undefined || style === 'deepObject') return this.#splitAtCommas().map(decode);
    const texts = findEncoded(name).filter((text) => text !== '');
    const delimiter = DELIMITERS[style];
    // URLs have both delimiters encoded, so a value cannot contain them, except beside pipes that are not encoded.
    return texts.flatMap((text) =>
      delimiter === '|' && text.includes('|') ? text.split('|').map(decode) : decode(text).split(delimiter),
    );
  }

  /** Returns the parts as they are encoded. */
  #splitAtCommas(): readonly string[] {
    const texts = this.#source.findEncoded(this.#field.name).filter((text) => text !== '');
    return texts.flatMap((text) => text.split(',').map((part) => part.trim()));
  }

  #readObject(): unknown {
    const members = new Map<string, string[]>();
    for (const [key, text] of this.#listMembers()) {
      const known = members.get(key);
      if (known === undefined) members.set(key, [text]);
      else known.push(text);
    }
    const { properties = {}, others } = this.#field;
    const values = [...members].flatMap(([key, texts]) => {
      if (key === '__proto__') throw this.#invalid('must not have a property "__proto__"');
      const spec = Object.hasOwn(properties, key) ? properties[key] : others;
      // A property that the schema does not name is validated as text, which it may refuse.
      const value = this.#toValue(spec ?? { type: 'string', list: 'repeated' }, texts);
      return value === undefined ? [] : [[key, value] as const];
    });
    return members.size === 0 ? undefined : Object.fromEntries(values);
  }

  /** An object whose properties are names of their own is not written at all if it is empty (RFC 6570, 3.2.1). */
  #emptyObject(): unknown {
    const isUnwritten = this.#field.style === 'deepObject' || (this.#explodes && this.#source.isForm);
    return this.#field.required && isUnwritten ? {} : undefined;
  }

  /** Lists the properties of an object with their texts. */
  #listMembers(): readonly (readonly [key: string, text: string])[] {
    const { name, style } = this.#field;
    if (style === 'deepObject') return this.#listDeepMembers(name);
    if (this.#explodes && this.#source.isForm) return this.#listOwnNames();
    if (this.#explodes) return this.#splitAtCommas().map((part) => this.#splitPair(part));
    const parts = this.#split();
    if (parts.length % 2 === 1) throw this.#invalid('must be a list of names and values in turn');
    return parts.flatMap((key, index) => (index % 2 === 0 ? [[key, parts[index + 1] ?? ''] as const] : []));
  }

  #listDeepMembers(name: string): readonly (readonly [string, string])[] {
    return [...this.#source.names()].flatMap((full) => {
      if (!full.startsWith(`${name}[`) || !full.endsWith(']')) return [];
      const key = full.slice(name.length + 1, -1);
      return this.#source.find(full).map((text) => [key, text] as const);
    });
  }

  /** An exploded object has no name of its own: its properties are fields, which no other field may claim. */
  #listOwnNames(): readonly (readonly [string, string])[] {
    const { properties = {}, others } = this.#field;
    const claimed = new Set(this.#fields.map(({ name }) => name));
    const keys = others === undefined ? Object.keys(properties) : [...this.#source.names()];
    return keys
      .filter((key) => Object.hasOwn(properties, key) || !claimed.has(key))
      .flatMap((key) => this.#source.find(key).map((text) => [key, text] as const));
  }

  #splitPair(part: string): readonly [string, string] {
    const { decode } = this.#source;
    const at = part.indexOf('=');
    if (at === -1) throw this.#invalid('must be a list of pairs such as name=value');
    return [decode(part.slice(0, at)), decode(part.slice(at + 1))];
  }

  #coerce(type: TextSpec['type'], text: string): unknown {
    const types = typeof type === 'string' ? [type] : type;
    for (const one of types) {
      const value = tryCoerce(one, text, types);
      if (value !== undefined) return value;
    }
    const expected = types.map((one) => WORDS[one]).join(' or ');
    throw this.#invalid(`must be ${expected}; received ${quoteForMessage(text)}`);
  }

  #repeated(count: number): AppError {
    return this.#invalid(`must not be repeated; received it ${count} times`);
  }

  #invalid(problem: string, cause?: AppError): AppError {
    return invalid(this.#field, this.#source, problem, cause);
  }
}

const WORDS: Readonly<Record<TextType, string>> = {
  boolean: 'true or false',
  integer: 'an integer',
  null: 'empty',
  number: 'a number',
  string: 'text',
};

const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Returns `undefined` for text of a different type. */
function tryCoerce(type: TextType, text: string, types: readonly TextType[]): unknown {
  switch (type) {
    case 'string':
      return text;
    case 'null':
      // "null" is a value of its own where text is allowed.
      return text === '' || (text === 'null' && !types.includes('string')) ? null : undefined;
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : undefined;
    case 'integer':
      return INTEGER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
    case 'number':
      return NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined;
  }
}

function invalid({ name }: FieldSpec, { word }: TextSource, problem: string, cause?: AppError): AppError {
  return new AppError('invalid_input', `The ${word} "${name}" ${problem}.`, { field: name, cause });
}

/** Messages truncate longer text of the caller. */
export const MAX_QUOTED = 40;

/** Quotes text of a URL for a message. */
export function quoteForMessage(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}
