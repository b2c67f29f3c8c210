import { useState } from 'preact/hooks';

interface Paged<Row> {
  readonly rows: readonly Row[];
  /** Starts at 0. */
  readonly page: number;
  readonly pages: number;
  readonly go: (page: number) => void;
}

/** Returns the current page of a list. A new value of `list` starts at the first page. */
export function usePage<Row>(rows: readonly Row[], size: number, list: string): Paged<Row> {
  const [at, setAt] = useState({ list, page: 0 });
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const page = at.list === list ? Math.min(at.page, pages - 1) : 0;
  return {
    ...{ page, pages },
    rows: pages === 1 ? rows : rows.slice(page * size, (page + 1) * size),
    go: (next) => setAt({ list, page: next }),
  };
}

/** Buttons to change the page, if there are several. They are not removed at the ends, so that they keep the focus. */
export function Pager({ page, pages, go }: Omit<Paged<unknown>, 'rows'>) {
  if (pages === 1) return null;
  const step = (name: string, next: number) => (
    <button
      type="button"
      aria-disabled={next < 0 || next >= pages}
      onClick={() => (next < 0 || next >= pages ? undefined : go(next))}
    >
      {name}
    </button>
  );
  return (
    <nav class="pager" aria-label="Pages of the list">
      {step('Previous', page - 1)}
      <span role="status">
        Page {page + 1} of {pages}
      </span>
      {step('Next', page + 1)}
    </nav>
  );
}
