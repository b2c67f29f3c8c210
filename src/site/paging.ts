import { AppError } from '../core/errors.js';

export interface PageRange {
  readonly skip: number;
  /** `undefined` means no limit. */
  readonly limit: number | undefined;
}

export interface PageInfo {
  readonly currentPage: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly itemCount: number;
  readonly pageCount: number;
  readonly perPage: number | null;
  readonly totalCount: number;
}

interface PageArguments {
  readonly skip?: number | null | undefined;
  readonly limit?: number | null | undefined;
}

/**
 * Parses `skip` and `limit`, for which null means absent.
 *
 * @throws AppError `invalid_input` for a negative number.
 */
export function parsePage({ skip, limit }: PageArguments): PageRange {
  return { skip: parseCount('skip', skip) ?? 0, limit: parseCount('limit', limit) };
}

function parseCount(name: string, count: number | null | undefined): number | undefined {
  if (count === null || count === undefined) return undefined;
  if (count < 0)
    throw new AppError('invalid_input', `Expected ${name} to be 0 or more; received ${count}.`, { field: name });
  return count;
}

/**
 * Computes the page numbers and counts. Without a limit, the skipped records are one page and the remaining records are
 * another. A limit of 0 counts pages in the same way, as it would fill none.
 */
export function pageInfo({ skip, limit }: PageRange, totalCount: number): PageInfo {
  const rest = Math.max(0, totalCount - skip);
  const before = limit ? Math.ceil(skip / limit) : Math.min(skip, 1);
  return {
    currentPage: before + 1,
    hasNextPage: limit ? skip + limit < totalCount : false,
    hasPreviousPage: before > 0,
    itemCount: Math.min(rest, limit ?? rest),
    pageCount: before + (limit ? Math.ceil((totalCount - skip) / limit) : 1),
    perPage: limit ?? null,
    totalCount,
  };
}
