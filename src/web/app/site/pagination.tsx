interface PagerProps {
  readonly page: number;
  /** The number of items on all pages. */
  readonly count: number;
  /** The number of items on one page. */
  readonly size: number;
  readonly linkTo: (page: number) => string;
}

/** Links to the previous and the next page; renders nothing for a single page. */
export function Pagination({ page, count, size, linkTo }: PagerProps) {
  const pages = Math.max(1, Math.ceil(count / size));
  if (pages === 1 && page === 1) return null;
  return (
    <nav aria-label="Pagination" class="pager">
      {page > 1 && (
        <a class="button" href={linkTo(Math.min(page - 1, pages))}>
          Previous
        </a>
      )}
      <span class="quiet">
        Page {page} of {pages}
      </span>
      {page < pages && (
        <a class="button" href={linkTo(page + 1)}>
          Next
        </a>
      )}
    </nav>
  );
}
