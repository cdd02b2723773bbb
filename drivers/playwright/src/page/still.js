// Waits until nothing moves: fonts are there, no animation that ends is running, and nothing has been
// changed for a while. Answers whether it became so, after how many milliseconds, whether anything moved
// from the start on, and whether anything is animated, be it for ever.
({ quiet, limit }) => new Promise(resolve => {
  const begun = performance.now();
  let last = begun;
  let moved = false;
  let animated = false;
  const move = () => { last = performance.now(); moved = true; };
  // While a picture is taken, Playwright hides carets.
  const bare = style => (style ?? '').replace(/caret-color:[^;]*;?/, '').trim();
  const own = ({ type, attributeName, target, oldValue }) => type === 'attributes' && attributeName === 'style' &&
    bare(oldValue) === bare(target.getAttribute('style'));
  const observer = new MutationObserver(mutations => { if (!mutations.every(own)) move(); });
  observer.observe(document, { subtree: true, childList: true, attributes: true, attributeOldValue: true, characterData: true });
  const ends = animation => {
    const { endTime } = animation.effect?.getComputedTiming() ?? {};
    return animation.playState === 'running' && Number.isFinite(Number(endTime));
  };
  const look = () => {
    const now = performance.now();
    animated ||= document.getAnimations().some(animation => animation.playState === 'running');
    if (document.readyState === 'loading' || document.fonts.status === 'loading' || document.getAnimations().some(ends)) move();
    const still = now - last >= quiet;
    if (!still && now - begun < limit) { setTimeout(look, Math.max(1, Math.min(quiet - (now - last), limit - (now - begun)))); return; }
    observer.disconnect();
    resolve({ still, moved, animated, settled: last - begun });
  };
  look();
})
