import type { KindDescription } from '@trellis/core/record-types';
import { useLocation } from 'preact-iso';
import { useId, useState } from 'preact/hooks';
import { ActiveFilters } from '../../ui/filters.js';
import { FormError, Select } from '../../ui/form.js';
import { Menu } from '../../ui/menu.js';
import { SearchField } from '../entry-list.js';
import {
  defaultColumns,
  describeFilter,
  type GridState,
  linkToGrid,
  listGridColumns,
  MAX_TEXT_LENGTH,
  parseFilter,
  toFilter,
  toGridQuery,
} from './grid-state.js';

interface GridControlsProps {
  readonly kind: KindDescription;
  readonly state: GridState;
}

/** The search, the filters and the columns of a grid. */
export function GridControls({ kind, state }: GridControlsProps) {
  const { route } = useLocation();
  const columns = listGridColumns(kind);
  const go = (change: Partial<GridState>, isReplaced = false): void =>
    route(linkToGrid(kind, { ...state, page: 1, ...change }), isReplaced);
  const remove = (name: string): void =>
    go({ filters: Object.fromEntries(Object.entries(state.filters).filter(([key]) => key !== name)) });
  const active = [
    ...(state.search === '' ? [] : [{ name: 'Search', value: state.search, onRemove: () => go({ search: '' }) }]),
    ...Object.entries(state.filters).map(([name, value]) => ({ name, value, onRemove: () => remove(name) })),
  ];
  const { problems } = toFilter(columns, state.filters);
  const { query, variables } = toGridQuery(kind, state);
  const inGraphiql = new URLSearchParams({ query, variables: JSON.stringify(variables, undefined, 2) });
  return (
    <div class="grid-controls" role="search" aria-label={`${kind.kind} records`}>
      <div class="selects">
        {kind.searchable && (
          <SearchField
            key={kind.kind + state.search}
            label="Search texts"
            maxLength={MAX_TEXT_LENGTH}
            search={state.search}
            onSearch={(search) => go({ search, sort: '' }, state.search !== '')}
          />
        )}
        {columns.length > 0 && (
          <FilterForm
            key={kind.kind}
            kind={kind}
            onFilter={(name, text) => go({ filters: { ...state.filters, [name]: text } })}
          />
        )}
        {columns.length > 1 && (
          <Menu name="Columns">
            <ColumnChoice kind={kind} state={state} onColumns={(chosen) => go({ columns: chosen, page: state.page })} />
          </Menu>
        )}
        <a class="button" href={`/graphql#${inGraphiql.toString()}`}>
          Open in GraphiQL
        </a>
      </div>
      {problems.length > 0 && <FormError problem={{ message: problems.join(' ') }} />}
      {active.length > 0 && <ActiveFilters filters={active} onClear={() => go({ filters: {}, search: '' })} />}
    </div>
  );
}

interface FilterFormProps {
  readonly kind: KindDescription;
  readonly onFilter: (name: string, text: string) => void;
}

/** A condition on one column. It is checked before it is used. */
function FilterForm({ kind, onFilter }: FilterFormProps) {
  const id = useId();
  const columns = listGridColumns(kind);
  const [name, setName] = useState(() => defaultColumns(kind)[0] ?? '');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const column = columns.find((one) => one.name === name);
  if (column === undefined) return null;
  const apply = (): void => {
    if (text.trim() === '') return;
    const found = parseFilter(column, text);
    setProblem(found.problem);
    if (found.problem !== undefined) return;
    setText('');
    onFilter(name, text.trim());
  };
  const values = column.type === 'Boolean' ? ['true', 'false'] : column.values;
  const attributes = { id, value: text, 'aria-describedby': `${id}-hint` };
  return (
    <form
      class="filter-form"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <Select
        label="Filter"
        value={name}
        options={columns.map((one) => [one.name, one.name] as const)}
        onValue={(next) => {
          setName(next);
          setText('');
          setProblem(undefined);
        }}
      />
      <label for={id}>
        <span class="aside">Condition on {name}</span>
        {values === undefined ? (
          <input
            {...attributes}
            maxLength={MAX_TEXT_LENGTH}
            autoComplete="off"
            spellcheck={false}
            placeholder={PLACEHOLDERS[column.type]}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        ) : (
          <select {...attributes} onChange={({ currentTarget }) => setText(currentTarget.value)}>
            <option value="">Any</option>
            {values.map((value) => (
              <option key={value}>{value}</option>
            ))}
          </select>
        )}
      </label>
      <button type="submit">Apply filter</button>
      <p class={problem === undefined ? 'aside' : 'problem'} id={`${id}-hint`} role="status">
        {problem ?? describeFilter(column)}
      </p>
    </form>
  );
}

const PLACEHOLDERS = {
  Boolean: '',
  Date: '2026-05 or >2025',
  Float: '5..10 or >5',
  ID: 'contains',
  Int: '5..10 or >5',
  String: 'contains',
};

interface ColumnChoiceProps extends GridControlsProps {
  readonly onColumns: (columns: readonly string[]) => void;
}

/** Selects the columns. At least one stays. */
function ColumnChoice({ kind, state, onColumns }: ColumnChoiceProps) {
  const all = listGridColumns(kind);
  const toggle = (name: string): void => {
    const isShown = state.columns.includes(name);
    const next = isShown ? state.columns.filter((one) => one !== name) : [...state.columns, name];
    if (next.length > 0) onColumns(next);
  };
  return (
    <div role="group" aria-label="Columns">
      {all.map(({ name }) => (
        <label key={name} class="choice">
          <input type="checkbox" checked={state.columns.includes(name)} onChange={() => toggle(name)} />
          {name}
        </label>
      ))}
    </div>
  );
}
