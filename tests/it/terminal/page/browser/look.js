// What is wrong with a page: an empty list if nothing is.
(() => {
  const wrong = [];
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) wrong.push(`wider than the screen: ${page.scrollWidth}`);
  const numbers = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const check = (element, words) => {
    const style = getComputedStyle(element);
    const ink = numbers(element.closest("svg") ? style.fill : style.color);
    const [more, less] = [light(ink), light(ground(element))].sort((a, b) => b - a);
    const contrast = (more + 0.05) / (less + 0.05);
    if (contrast < 4.5 || style.opacity !== "1") {
      wrong.push(`faint (${contrast.toFixed(1)}): ${words.trim().slice(0, 40)}`);
    }
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility() || !element.getClientRects().length) continue;
    check(element, texts.currentNode.data);
    seen += 1;
  }
  document.querySelectorAll("input, select, button").forEach((field) => check(field, field.name));
  if (!seen) wrong.push("no text");
  document.querySelectorAll("svg, img, [role=img]").forEach((picture) => {
    const name = picture.getAttribute("aria-label") || picture.getAttribute("alt");
    if (!name?.trim()) wrong.push("a picture without a name");
    if (picture.matches("svg") && !picture.querySelector("desc")?.textContent.trim()) {
      wrong.push(`a picture that is not described: ${name}`);
    }
  });
  // A text of a picture that is cut, or stands over another one.
  document.querySelectorAll("svg").forEach((picture) => {
    const frame = picture.getBoundingClientRect();
    const boxes = [...picture.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
    boxes.forEach(([text, box], at) => {
      const words = `${picture.getAttribute("aria-label")}: ${text.textContent}`;
      if (box.left < frame.left - 1 || box.right > frame.right + 1) wrong.push(`cut: ${words}`);
      const over = boxes.slice(at + 1).some(([, other]) => {
        const wide = Math.min(box.right, other.right) - Math.max(box.left, other.left);
        const tall = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
        return wide > 2 && tall > 5;
      });
      if (over) wrong.push(`over another text: ${words}`);
    });
  });
  if (matchMedia("print").matches) {
    document.querySelectorAll("main details > :not(summary)").forEach((part) => {
      if (!part.checkVisibility()) wrong.push("folded on paper");
    });
  }
  return wrong;
})()
