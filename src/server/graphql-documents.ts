import { GraphQLError, parse, TokenKind } from 'graphql';
import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { AppError } from '../core/errors.js';
import { assertBreadthLimits } from './graphql-breadth.js';
import { assertLimit } from './graphql-limits.js';
import { validateDocument } from './graphql-validate.js';
import type { ValidateDocumentOptions } from './graphql-validate.js';

/**
 * The longest query of a site has some hundred tokens, and the introspection query of GraphiQL 300. Parsing and
 * validating 4,000 tokens takes less than a tenth of a second for any document within the other limits.
 */
const MAX_TOKENS = 4000;

/** A parsed document needs about 50 bytes per character: 512 Ki characters are some 25 MiB. */
const CACHE_LIMITS = { max: 1000, maxSize: 512 * 1024, maxEntrySize: 32 * 1024 };

interface PreparedDocument {
  readonly document: DocumentNode;
  /** The validation errors; empty for a document that can be executed. */
  readonly errors: readonly GraphQLError[];
}

/**
 * Parses and validates a query.
 *
 * @throws GraphQLError for a syntax error or above a limit; AppError `invalid_input` for a document that can't be
 * parsed because of its depth or length.
 */
export type PrepareDocument = (query: string) => PreparedDocument;

/** Creates a cache of the valid documents of one schema. Invalid documents would evict those that are repeated. */
export function createDocumentCache(options: ValidateDocumentOptions): PrepareDocument {
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

function check(query: string, options: ValidateDocumentOptions): PreparedDocument {
  const document = read(query);
  requireShortNames(document);
  assertBreadthLimits(document);
  return { document, errors: validateDocument(document, options) };
}

function requireShortNames(document: DocumentNode): void {
  const [first] = document.definitions;
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) {
    if (token.kind === TokenKind.NAME && first) assertLimit('nameLength', token.end - token.start, first);
  }
}

function read(query: string): DocumentNode {
  try {
    return parse(query, { maxTokens: MAX_TOKENS });
  } catch (cause) {
    // The parser recurses, so a deeply nested document overflows the stack.
    if (cause instanceof RangeError) throw invalid('The document is nested too deeply.', cause);
    if (!(cause instanceof GraphQLError) || !cause.message.endsWith('Parsing aborted.')) throw cause;
    const limit = `at most ${MAX_TOKENS} tokens (names, values and punctuation)`;
    throw invalid(`Expected a document of ${limit}; received more.`, cause);
  }
}

const invalid = (message: string, cause: Error) => new AppError('invalid_input', message, { cause });
