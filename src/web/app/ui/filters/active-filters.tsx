import { useRef } from 'preact/hooks';

export interface ActiveFilter {
  /** The name of the filter, such as "Author". */
  readonly name: string;
  readonly value: string;
  readonly onRemove: () => void;
}

interface ActiveFiltersProps {
  readonly filters: readonly ActiveFilter[];
  readonly onClear: () => unknown;
}

/** The filters in force as buttons that remove them, so that they are visible while the controls are folded. */
export function ActiveFilters({ filters, onClear }: ActiveFiltersProps) {
  const list = useRef<HTMLDivElement>(null);
  /** The pressed button disappears with its filter. */
  const act = (change: () => unknown): void => {
    list.current?.focus();
    change();
  };
  return (
    <div ref={list} class="active-filters" role="group" tabIndex={-1} aria-label="Active filters">
      {filters.map(({ name, value, onRemove }) => (
        <button
          key={name}
          type="button"
          class="active-filter"
          aria-label={`Remove filter ${name}: ${value}`}
          onClick={() => act(onRemove)}
        >
          <span class="quiet">{name}:</span> <bdi>{value}</bdi> <span aria-hidden="true">×</span>
        </button>
      ))}
      {filters.length > 0 && (
        <button type="button" class="plain" onClick={() => act(onClear)}>
          Clear all
        </button>
      )}
    </div>
  );
}
