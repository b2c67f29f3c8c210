import { useCallback } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { recordTypeDescriptions } from '../../../generated/site/record-types.js';
import type { KindDescription } from '../../../site/kind-descriptions.js';
import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { ExploreFrame } from './explore-frame.js';
import { Pager } from './pager.js';
import { Panel } from './panel.js';
import { toPage } from './place.js';
import { countKinds, findKind, linkToRecord, listRecords } from './record.js';
import { RecordDetails } from './record-details.js';
import { SchemaText } from './schema-text.js';
import { useArrowKeys } from './use-arrow-keys.js';
import './explore.css';

/** So many records are on a page. */
const SIZE = 50;

const linkToKind = (kind: string, page = 1): string =>
  `/explore/records?${new URLSearchParams({ kind, ...(page > 1 && { page: String(page) }) }).toString()}`;

/** Records of every kind, those of a site's own too. */
export function RecordsPage() {
  const { query } = useLocation();
  const kind = findKind(query.kind ?? 'File');
  const page = toPage(query.page);
  return (
    <ExploreFrame title="Site records">
      <Kinds chosen={kind?.kind} />
      {kind === undefined ? (
        <p>There is no kind of record that is called so.</p>
      ) : (
        <>
          <p>
            <SchemaText text={kind.description} />
          </p>
          <div class={`explore ${query.record === undefined ? '' : 'split'}`}>
            <Records key={`${kind.kind} ${page}`} kind={kind} page={page} chosen={query.record} />
            {query.record !== undefined && (
              <Panel
                key={query.record}
                title={kind.kind}
                closeTo={linkToKind(kind.kind, page)}
                openedBy={`record-${query.record}`}
              >
                <RecordDetails kind={kind} id={query.record} />
              </Panel>
            )}
          </div>
        </>
      )}
    </ExploreFrame>
  );
}

function Kinds({ chosen }: { readonly chosen: string | undefined }) {
  const { value: counts } = useResource(countKinds);
  return (
    <nav aria-label="Kinds of records">
      <ul class="kinds">
        {recordTypeDescriptions.map(({ kind }) => (
          <li key={kind}>
            <a href={linkToKind(kind)} aria-current={kind === chosen ? 'page' : undefined}>
              {kind} <span class="quiet">{counts?.get(kind) ?? ''}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface RecordsProps {
  readonly kind: KindDescription;
  readonly page: number;
  readonly chosen: string | undefined;
}

function Records({ kind, page, chosen }: RecordsProps) {
  const load = useCallback(() => listRecords(kind, page, SIZE), [kind, page]);
  const records = useResource(load);
  const list = useArrowKeys(`${kind.kind} ${page} ${chosen} ${records.value?.nodes.length}`);
  return (
    <div class="contents">
      <Loaded from={records}>
        {({ totalCount, nodes }) => (
          <>
            {totalCount === 0 && <p class="quiet">The site has no record of this kind.</p>}
            {nodes.length > 0 && (
              <ul ref={list} class="entries list" aria-label={`Records of ${kind.kind}`}>
                {nodes.map((record) => (
                  <li key={record.id}>
                    <a
                      id={`record-${record.id}`}
                      href={`${linkToRecord(record)}${page > 1 ? `&page=${page}` : ''}`}
                      aria-current={record.id === chosen ? 'true' : undefined}
                    >
                      <span class="name">{record.label}</span>
                    </a>
                  </li>
                ))}
              </ul>
            )}
            <Pager page={page} count={totalCount} size={SIZE} linkTo={(to) => linkToKind(kind.kind, to)} />
          </>
        )}
      </Loaded>
    </div>
  );
}
