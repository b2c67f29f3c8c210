import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { Field } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { AsyncContent } from '../ui/async-content.js';
import { Select } from '../ui/select.js';
import { OneTimeSecret } from '../ui/one-time-secret.js';
import { formatDate } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { useResource } from '../ui/use-resource.js';

type Feed = components['schemas']['Feed'];
type Kind = components['schemas']['FeedKind'];

const load = async () => {
  const [feeds, views] = await Promise.all([dashboardClient.GET('/api/feeds'), dashboardClient.GET('/api/views')]);
  return { feeds: requireData(feeds), views: requireData(views) };
};

const KINDS: Readonly<Record<Kind, string>> = { atom: 'Atom feed', badge: 'Badge' };

/** The settings section for feeds and badges: links to the board for programs that can't sign in. */
export function FeedsSection() {
  const feeds = useResource(load);
  const [made, setMade] = useState<string>();
  const remove = async ({ id, label }: Feed): Promise<void> => {
    requireData(await dashboardClient.DELETE('/api/feeds/{id}', { params: { path: { id } } }));
    setMade(undefined);
    await feeds.reload();
    showToast(`Feed “${label}” deleted.`);
  };
  return (
    <section aria-labelledby="feeds">
      <h2 id="feeds">Feeds and badges</h2>
      <p class="quiet">
        Your board or a saved view, as a feed for readers or as a badge for web pages. Anyone with the link can view it.
      </p>
      {made !== undefined && (
        <OneTimeSecret label="New feed link. Copy it now: it won’t be shown again." value={made} />
      )}
      <AsyncContent from={feeds}>
        {({ feeds: list, views }) => (
          <>
            <ul class="things">
              {list.length === 0 && <li>No feeds.</li>}
              {list.map((feed) => (
                <li key={feed.id}>
                  <div>
                    {feed.label}
                    <small>
                      {KINDS[feed.kind]} of {feed.view ?? 'the whole board'} · created {formatDate(feed.createdAt)}
                    </small>
                  </div>
                  <ConfirmButton
                    class="danger"
                    label={`Delete feed ${feed.label}`}
                    question="Delete feed?"
                    onAct={() => remove(feed)}
                  >
                    Delete feed
                  </ConfirmButton>
                </li>
              ))}
            </ul>
            <NewFeed
              views={views.map(({ name }) => name)}
              onMade={async (url) => {
                setMade(url);
                await feeds.reload();
              }}
            />
          </>
        )}
      </AsyncContent>
    </section>
  );
}

interface NewFeedProps {
  readonly views: readonly string[];
  readonly onMade: (url: string) => Promise<void>;
}

function NewFeed({ views, onMade }: NewFeedProps) {
  const [label, setLabel] = useState('');
  const [kind, setKind] = useState<Kind>('atom');
  const [view, setView] = useState('');
  const create = async (): Promise<void> => {
    const body = { kind, label, ...(view === '' ? {} : { view }) };
    const { url } = requireData(await dashboardClient.POST('/api/feeds', { params: {}, body }));
    setLabel('');
    await onMade(url);
  };
  return (
    <Form verb="Create feed" onSave={create}>
      <Field label="Feed title" required maxLength={100} autoComplete="off" value={label} onValue={setLabel} />
      <div class="selects">
        <Select label="Type" value={kind} options={Object.entries(KINDS) as [Kind, string][]} onValue={setKind} />
        <Select
          label="Content"
          value={view}
          options={[['', 'The whole board'], ...views.map((name) => [name, name] as const)]}
          onValue={setView}
        />
      </div>
    </Form>
  );
}
