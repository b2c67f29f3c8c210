import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { publicOrigin } from '../page-data.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { CopyButton } from '../ui/copy-button.js';
import { formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { FORGE_GUIDES } from './forge-guides.js';
import type { Settings } from './settings-request.js';

type Rotated = Pick<Settings, 'webhookSecret' | 'webhookToken'>;

interface WebhookProps {
  readonly settings: Settings;
  readonly onRotated: (rotated: Rotated) => void;
}

/** The URLs and the secret for setting up webhooks manually. The server always returns both to a session. */
export function Webhook({ settings: { webhookToken = '', webhookSecret = '' }, onRotated }: WebhookProps) {
  const [formerUntil, setFormerUntil] = useState<string>();
  const rotate = async (): Promise<void> => {
    const { formerUntil: until, ...rotated } = requireData(await dashboardClient.POST('/api/webhooks/rotate'));
    onRotated(rotated);
    setFormerUntil(until);
    showToast('Webhook URLs and secret replaced.');
  };
  return (
    <fieldset>
      <legend>Manual webhooks</legend>
      <p class="quiet">
        With webhooks, changes appear instantly. The <a href="/repositories">list of repositories</a> sets them up where
        the token has the permission. Elsewhere, add a webhook yourself: enter the URL and the secret, and choose JSON
        as the content type.
      </p>
      <dl class="webhook">
        {FORGE_GUIDES.map(({ forge, name }) => (
          <WebhookValue
            key={forge}
            name={`URL for ${name}`}
            value={`${publicOrigin || location.origin}/api/webhooks/${forge}/${webhookToken}`}
            what={`the URL for ${name}`}
          />
        ))}
        <Secret value={webhookSecret} />
      </dl>
      {formerUntil !== undefined && (
        <p role="status">
          The previous URLs and secret work until {formatDateTime(formerUntil)}. Update your webhooks before then.
        </p>
      )}
      <div class="acts">
        <ConfirmButton class="danger" question="Replace URLs and secret?" onAct={rotate}>
          Replace URLs and secret
        </ConfirmButton>
      </div>
    </fieldset>
  );
}

interface WebhookValueProps {
  readonly name: string;
  readonly value: string;
  readonly what: string;
  /** Shown in place of the value. */
  readonly children?: ComponentChildren;
}

const WebhookValue = ({ name, value, what, children }: WebhookValueProps) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {children ?? <code>{value}</code>}
      <CopyButton value={value} what={what} />
    </dd>
  </div>
);

function Secret({ value }: { readonly value: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <WebhookValue name="Secret" value={value} what="the secret">
      <code>{isShown ? value : '•'.repeat(12)}</code>
      <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
        Show <span class="aside">the secret</span>
      </button>
    </WebhookValue>
  );
}
