import './site.css';
import type { KindDescription } from '@trellis/core/record-types';
import { useLocation } from 'preact-iso';
import { useCallback } from 'preact/hooks';
import { recordTypeDescriptions } from '../../../generated/site/record-types.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { DetailsPanel } from './details-panel.js';
import { Pagination, useArrowKeys } from './entry-list.js';
import { RecordDetails } from './record-fields.js';
import { countRecordTypes, findRecordType, linkToRecord, listRecords } from './record.js';
import { SchemaText, SiteLayout } from './site-layout.js';
import { parsePageNumber } from './site-location.js';

/** The number of records on a page. */
const PAGE_SIZE = 50;

const linkToKind = (kind: string, page = 1): string =>
  `/site/records?${new URLSearchParams({ kind, ...(page > 1 && { page: String(page) }) }).toString()}`;

/** The page that lists the records of every record type, including the types of the site. */
export function RecordsPage() {
  const { query } = useLocation();
  const kind = findRecordType(query.kind ?? 'File');
  const page = parsePageNumber(query.page);
  return (
    <SiteLayout title="Site records">
      <RecordTypes chosen={kind?.kind} />
      {kind === undefined ? (
        <p>Unknown record type.</p>
      ) : (
        <>
          <p>
            <SchemaText text={kind.description} />
          </p>
          <div class={`explore ${query.record === undefined ? '' : 'split'}`}>
            <Records key={`${kind.kind} ${page}`} kind={kind} page={page} chosen={query.record} />
            {query.record !== undefined && (
              <DetailsPanel
                key={query.record}
                title={kind.kind}
                closeTo={linkToKind(kind.kind, page)}
                openedBy={`record-${query.record}`}
              >
                <RecordDetails kind={kind} id={query.record} />
              </DetailsPanel>
            )}
          </div>
        </>
      )}
    </SiteLayout>
  );
}

function RecordTypes({ chosen }: { readonly chosen: string | undefined }) {
  const { value: counts } = useResource(countRecordTypes);
  return (
    <nav aria-label="Record types">
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
  const load = useCallback(() => listRecords(kind, page, PAGE_SIZE), [kind, page]);
  const records = useResource(load);
  const list = useArrowKeys(`${kind.kind} ${page} ${chosen} ${records.value?.nodes.length}`);
  return (
    <div class="contents">
      <AsyncContent from={records}>
        {({ totalCount, nodes }) => (
          <>
            {totalCount === 0 && <p class="quiet">This site has no records of this type.</p>}
            {nodes.length > 0 && (
              <ul ref={list} class="entries list" aria-label={`${kind.kind} records`}>
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
            <Pagination page={page} count={totalCount} size={PAGE_SIZE} linkTo={(to) => linkToKind(kind.kind, to)} />
          </>
        )}
      </AsyncContent>
    </div>
  );
}
