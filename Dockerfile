FROM python:3.13-slim
ENV PYTHONUNBUFFERED=1 DATA_DIR=/data
WORKDIR /gridlot
COPY requirements.txt .
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.txt
COPY . .
RUN useradd --system --uid 1000 gridlot && mkdir /data && chown gridlot /data
USER gridlot
VOLUME /data
EXPOSE 8000
CMD ["python", "manage.py", "serve", "--bind", "0.0.0.0:8000"]
