import './site.css';
import './grid/grid.css';
import type { KindDescription } from '@trellis/core/record-types';
import { useLocation } from 'preact-iso';
import { useCallback } from 'preact/hooks';
import { AsyncContent, useResource } from '../ui/resource.js';
import { formatDateTime } from '../ui/times.js';
import { DetailsPanel, Pagination, useArrowKeys } from './entry-list.js';
import { GridControls } from './grid/grid-controls.js';
import {
  type GridColumn,
  type GridState,
  LABEL_FIELDS,
  linkToGrid,
  listGridColumns,
  PAGE_SIZE,
  parseGridState,
  toGridQuery,
} from './grid/grid-state.js';
import { loadRecordTypes, querySite, type RecordReference } from './query-site.js';
import { countRecordTypes, findRecordType, RecordDetails } from './record.js';
import { SchemaText, SiteLayout } from './site-layout.js';

/** The page that lists the records of every record type, including the types of the site. */
export function RecordsPage() {
  const types = useResource(loadRecordTypes);
  return (
    <SiteLayout title="Site records">
      <AsyncContent from={types}>{(known) => <Records types={known} />}</AsyncContent>
    </SiteLayout>
  );
}

interface RecordTypesProps {
  readonly types: readonly KindDescription[];
}

function Records({ types }: RecordTypesProps) {
  const { query } = useLocation();
  const kind = findRecordType(types, query.kind ?? 'File');
  const state = kind && parseGridState(kind, query);
  return (
    <>
      <RecordTypes types={types} chosen={kind?.kind} />
      {kind === undefined || state === undefined ? (
        <p>Unknown record type.</p>
      ) : (
        <>
          <p>
            <SchemaText text={kind.description} />
          </p>
          <div class={`explore ${query.record === undefined ? '' : 'split'}`}>
            <RecordGrid key={kind.kind} kind={kind} state={state} chosen={query.record} />
            {query.record !== undefined && (
              <DetailsPanel
                key={query.record}
                title={kind.kind}
                closeTo={linkToGrid(kind, state)}
                openedBy={`record-${query.record}`}
              >
                <RecordDetails kind={kind} id={query.record} />
              </DetailsPanel>
            )}
          </div>
        </>
      )}
    </>
  );
}

function RecordTypes({ types, chosen }: RecordTypesProps & { readonly chosen: string | undefined }) {
  const { value: counts } = useResource(useCallback(() => countRecordTypes(types), [types]));
  return (
    <nav aria-label="Record types">
      <ul class="kinds">
        {types.map(({ kind }) => (
          <li key={kind}>
            <a href={`/site/records?kind=${kind}`} aria-current={kind === chosen ? 'page' : undefined}>
              {kind} <span class="quiet">{counts?.get(kind)?.toLocaleString() ?? ''}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface RecordGridProps {
  readonly kind: KindDescription;
  readonly state: GridState;
  /** The id of the record whose details are shown. */
  readonly chosen: string | undefined;
}

/** The records of a type as a table with chosen columns, which can be searched, filtered and sorted. */
function RecordGrid({ kind, state, chosen }: RecordGridProps) {
  // The record in the address does not change the list.
  const key = linkToGrid(kind, state);
  const load = useCallback(() => listRows(kind, state), [key]);
  const page = useResource(load);
  return (
    <div class="contents">
      <GridControls kind={kind} state={state} />
      <AsyncContent from={page.problem === undefined ? page : { ...page, value: undefined }}>
        {(loaded) => <Rows kind={kind} state={state} chosen={chosen} loaded={loaded} />}
      </AsyncContent>
    </div>
  );
}

interface RowsProps extends RecordGridProps {
  readonly loaded: GridPage;
}

function Rows({ kind, state, chosen, loaded: { totalCount, rows } }: RowsProps) {
  const isFiltered = state.search !== '' || Object.keys(state.filters).length > 0;
  return (
    <>
      <p class="quiet" role="status">
        {describeCount(totalCount, isFiltered)}
      </p>
      {rows.length > 0 && <Table kind={kind} state={state} chosen={chosen} rows={rows} />}
      <Pagination
        page={state.page}
        count={totalCount}
        size={PAGE_SIZE}
        linkTo={(to) => linkToGrid(kind, { ...state, page: to })}
      />
    </>
  );
}

function describeCount(count: number, isFiltered: boolean): string {
  if (count === 0) return isFiltered ? 'No record matches.' : 'This site has no records of this type.';
  const counted = `${count.toLocaleString()} ${count === 1 ? 'record' : 'records'}`;
  return isFiltered ? `${counted} found` : counted;
}

interface TableProps extends RecordGridProps {
  readonly rows: readonly GridRow[];
}

function Table({ kind, state, chosen, rows }: TableProps) {
  const body = useArrowKeys<HTMLTableSectionElement>(`${linkToGrid(kind, state)} ${chosen} ${rows.length}`);
  const known = new Map(listGridColumns(kind).map((column) => [column.name, column]));
  const columns = state.columns.flatMap((name) => known.get(name) ?? []);
  return (
    <div class="wide" tabIndex={0} role="region" aria-label={`${kind.kind} table`}>
      <table class="grid" aria-label={`${kind.kind} records`}>
        <thead>
          <tr>
            {columns.map((column) => (
              <SortHeader key={column.name} kind={kind} state={state} column={column} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row) => (
            <tr key={row.id} aria-current={row.id === chosen ? 'true' : undefined}>
              {columns.map((column, index) => (
                <td key={column.name} class={isNumeric(column) ? 'number' : undefined}>
                  {index === 0 ? (
                    <a
                      id={`record-${row.id}`}
                      href={linkToGrid(kind, state, row.id)}
                      aria-current={row.id === chosen ? 'true' : undefined}
                    >
                      <bdi>{toText(column, row.values[column.name]) || row.label}</bdi>
                    </a>
                  ) : (
                    <Cell text={toText(column, row.values[column.name])} />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface SortHeaderProps extends Omit<RecordGridProps, 'chosen'> {
  readonly column: GridColumn;
}

/** A column header that sorts by its column: ascending, then descending, then in the original order. */
function SortHeader({ kind, state, column }: SortHeaderProps) {
  const { name, list, description } = column;
  const isSorted = state.sort === name;
  const direction = state.order === 'ASC' ? 'ascending' : 'descending';
  const next = isSorted && state.order === 'DESC' ? '' : name;
  const target = { ...state, page: 1, sort: next, order: isSorted ? 'DESC' : 'ASC' } as const;
  return (
    <th
      scope="col"
      class={isNumeric(column) ? 'number' : undefined}
      aria-sort={isSorted ? direction : undefined}
      title={description}
    >
      {list ? (
        name
      ) : (
        <a href={linkToGrid(kind, target)}>
          {name}
          <span aria-hidden="true">{isSorted ? (state.order === 'ASC' ? ' ▲' : ' ▼') : ''}</span>
        </a>
      )}
    </th>
  );
}

const isNumeric = ({ type, list }: GridColumn): boolean => list !== true && (type === 'Int' || type === 'Float');

function Cell({ text }: { readonly text: string }) {
  return text === '' ? <span class="quiet">–</span> : <bdi class="cell">{text}</bdi>;
}

/** A day without a time, which is the same in every time zone. */
const DAY = /^\d{4}-\d\d-\d\d(?:T00:00:00(?:\.000)?Z)?$/;

function toText(column: GridColumn, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map((one: unknown) => toText(column, one)).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return value.toLocaleString();
  if (typeof value !== 'string') return JSON.stringify(value);
  if (column.type !== 'Date') return value;
  return DAY.test(value)
    ? new Date(value).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
    : formatDateTime(value);
}

interface GridRow extends RecordReference {
  /** Names the record for people. */
  readonly label: string;
  readonly values: Readonly<Record<string, unknown>>;
}

interface GridPage {
  readonly totalCount: number;
  readonly rows: readonly GridRow[];
}

interface ListedRecord extends RecordReference {
  readonly parent: Pick<RecordReference, 'internal'> | null;
}

interface ListResult {
  readonly totalCount: number;
  readonly nodes: readonly (ListedRecord & Readonly<Record<string, unknown>>)[];
}

/** Loads a page of the grid. */
async function listRows(kind: KindDescription, state: GridState): Promise<GridPage> {
  const { query, variables } = toGridQuery(kind, state);
  const result = await querySite<Readonly<Record<string, ListResult>>>(query, variables);
  const { totalCount, nodes } = result[kind.all] ?? { totalCount: 0, nodes: [] };
  return { totalCount, rows: nodes.map((node) => ({ ...node, label: toLabel(node), values: node })) };
}

function toLabel(node: ListResult['nodes'][number]): string {
  const named = LABEL_FIELDS.map((name) => node[name]);
  const texts = [...named, node.internal.description, node.parent?.internal.description];
  return texts.find((text): text is string => typeof text === 'string' && text !== '') ?? node.id;
}
