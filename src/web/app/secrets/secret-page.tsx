import { useCallback } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { AsyncContent } from '../ui/async-content.js';
import { useResource } from '../ui/use-resource.js';
import { useUnlockedIdentity } from './identity/use-identity-prompt.js';
import { listVariants } from './secrets.js';
import { findOwnPublicKey } from './readable-choice.js';
import { Variant } from './variant.js';
import { SecretsLayout } from './secrets-layout.js';

const loadOwn = async () => ({ key: await findOwnPublicKey() });

export function SecretPage() {
  const { slug = '' } = useRoute().params;
  const load = useCallback(() => listVariants(slug), [slug]);
  const variants = useResource(load);
  const unlocked = useUnlockedIdentity();
  const own = useResource(loadOwn);
  const { route } = useLocation();
  const leave = async (): Promise<void> => route('/vault', true);
  return (
    <SecretsLayout title={slug}>
      <AsyncContent from={variants}>
        {(list) => (
          <>
            {list.length === 0 && (
              <p>
                No secret with this name. <a href="/vault">All secrets</a>
              </p>
            )}
            {list.length > 1 && (
              <p class="quiet">{list.length} variants share this name, each for different consumers.</p>
            )}
            {list.map((object) => (
              <Variant
                key={object.id}
                object={object}
                ownKey={own.value?.key}
                unlocked={unlocked}
                onChange={variants.reload}
                onDeleted={list.length > 1 ? variants.reload : leave}
              />
            ))}
          </>
        )}
      </AsyncContent>
    </SecretsLayout>
  );
}
