interface PagerProps {
  readonly page: number;
  /** On all pages together. */
  readonly count: number;
  /** On one page. */
  readonly size: number;
  readonly linkTo: (page: number) => string;
}

/** The way to the pages before and after; nothing where one page is enough. */
export function Pager({ page, count, size, linkTo }: PagerProps) {
  const pages = Math.max(1, Math.ceil(count / size));
  if (pages === 1 && page === 1) return null;
  return (
    <nav aria-label="Pages of this list" class="pager">
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
