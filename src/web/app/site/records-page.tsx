import './site.css';
import { useLocation } from 'preact-iso';
import { recordTypeDescriptions } from '../../../generated/site/record-types.js';
import { useResource } from '../ui/resource.js';
import { DetailsPanel } from './details-panel.js';
import { linkToGrid, parseGridState } from './grid/grid-state.js';
import { RecordGrid } from './grid/record-grid.js';
import { RecordDetails } from './record-fields.js';
import { countRecordTypes, findRecordType } from './record.js';
import { SchemaText, SiteLayout } from './site-layout.js';

/** The page that lists the records of every record type, including the types of the site. */
export function RecordsPage() {
  const { query } = useLocation();
  const kind = findRecordType(query.kind ?? 'File');
  const state = kind && parseGridState(kind, query);
  return (
    <SiteLayout title="Site records">
      <RecordTypes chosen={kind?.kind} />
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
            <a href={`/site/records?kind=${kind}`} aria-current={kind === chosen ? 'page' : undefined}>
              {kind} <span class="quiet">{counts?.get(kind) ?? ''}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
