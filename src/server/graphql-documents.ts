import { GraphQLError, parse, TokenKind } from 'graphql';
import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.js';
import { requireModest } from './graphql-breadth.js';
import { requireWithin } from './graphql-limits.js';
import { validateDocument } from './graphql-validate.js';
import type { ValidateOptions } from './graphql-validate.js';

/**
 * The longest query of a site is some hundred tokens, the introspection of
 * GraphiQL 300. Four thousand are parsed and validated in under a tenth of a
 * second, whatever they say within the other limits.
 */
const MAX_TOKENS = 4000;

/** A parsed document takes about 50 bytes a character: 512 Ki characters are some 25 MiB. */
const CACHE_LIMITS = { max: 1000, maxSize: 512 * 1024, maxEntrySize: 32 * 1024 };

interface PreparedDocument {
  readonly document: DocumentNode;
  /** What validation found; empty for a document that can be executed. */
  readonly errors: readonly GraphQLError[];
}

/**
 * Parses and validates a query.
 *
 * @throws GraphQLError for a mistake of syntax and past a limit; AppError `invalid_input` for a document too deep to be read.
 */
export type PrepareDocument = (query: string) => PreparedDocument;

/** Keeps the valid documents of one schema. Invalid ones are not kept: they would push out those that are asked again. */
export function createDocuments(options: ValidateOptions): PrepareDocument {
  const valid = new LRUCache<string, PreparedDocument>({
    ...CACHE_LIMITS,
    sizeCalculation: (_, query) => query.length,
  });
  return (query) => {
    const known = valid.get(query);
    if (known) return known;
    const prepared = check(query, options);
    if (prepared.errors.length === 0) valid.set(query, prepared);
    return prepared;
  };
}

function check(query: string, options: ValidateOptions): PreparedDocument {
  const document = read(query);
  requireShortNames(document);
  requireModest(document);
  return { document, errors: validateDocument(document, options) };
}

function requireShortNames(document: DocumentNode): void {
  const [first] = document.definitions;
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) {
    if (token.kind === TokenKind.NAME && first) requireWithin('nameLength', token.end - token.start, first);
  }
}

function read(query: string): DocumentNode {
  try {
    return parse(query, { maxTokens: MAX_TOKENS });
  } catch (cause) {
    // The parser recurses: a stack that overflowed is the document's doing.
    if (cause instanceof RangeError) throw refuse('of a few levels; received one that nests too deeply', cause);
    if (!(cause instanceof GraphQLError) || !cause.message.endsWith('Parsing aborted.')) throw cause;
    throw refuse(`of at most ${MAX_TOKENS} tokens (names, values and signs); received more`, cause);
  }
}

const refuse = (expected: string, cause: Error) =>
  new AppError('invalid_input', `Expected a document ${expected}.`, { cause });
